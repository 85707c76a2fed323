package main

import (
	"database/sql"
	"net/url"
	"os"
	"path/filepath"
	"strconv"

	"github.com/rogpeppe/go-internal/testscript"
)

// oldInScript makes a database as older programs left it: old VERSION DB.
func oldInScript(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: old VERSION DB")
	}
	version, err := strconv.Atoi(args[0])
	ts.Check(err)
	steps, err := filepath.Glob("../../db/schema/*.up.sql")
	ts.Check(err)
	if len(steps) < version {
		ts.Fatalf("there are %d schema steps only", len(steps))
	}
	path := ts.MkAbs(args[1])
	ts.Check(os.MkdirAll(filepath.Dir(path), 0o755))
	address := url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(path)}
	db, err := sql.Open("sqlite", address.String())
	ts.Check(err)
	for _, step := range steps[:version] {
		body, err := os.ReadFile(step)
		ts.Check(err)
		_, err = db.Exec(string(body))
		ts.Check(err)
	}
	ts.Check(db.Close())
}
