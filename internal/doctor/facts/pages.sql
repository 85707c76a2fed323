-- What is wrong with the pages of the file; NULL when nothing is.
SELECT group_concat(q.quick_check, '; ') AS fault
FROM pragma_quick_check AS q
WHERE q.quick_check <> 'ok';
