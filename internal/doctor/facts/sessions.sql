-- Whether the table that everything hangs on can be read.
SELECT count(*) AS sessions
FROM sessions;
