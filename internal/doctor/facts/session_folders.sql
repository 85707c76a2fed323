-- Which folder belongs to which session.
SELECT s.id AS id, s.session_dir AS session_dir
FROM sessions AS s;
