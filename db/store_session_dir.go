package db

import "strings"

// StoreSessionDir is the statement with which a person stores another folder for
// a session, where the row has one that nothing is written to.
func StoreSessionDir(id, dir string) string {
	return "UPDATE sessions SET session_dir = " + quoteText(dir) + " WHERE id = " + quoteText(id)
}

func quoteText(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }
