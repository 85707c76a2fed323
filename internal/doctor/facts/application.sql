-- Whose file it is, and how large its parts are.
SELECT
    (SELECT application_id FROM pragma_application_id) AS application_id,
    (SELECT page_size FROM pragma_page_size) AS page_size,
    (SELECT page_count FROM pragma_page_count) AS page_count,
    (SELECT freelist_count FROM pragma_freelist_count) AS free_count;
