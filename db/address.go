package db

import (
	"fmt"
	"path/filepath"
	"strings"
)

// settings are those of every connection. They travel in the address: a
// PRAGMA run later would reach only one connection of the pool.
func settings(w waits) string {
	return fmt.Sprintf("_pragma=busy_timeout(%d)&_pragma=foreign_keys(1)&_pragma=synchronous(NORMAL)", w.engine.Milliseconds())
}

// address is the "file:" address of path. Everything but plain letters is
// escaped, so that no folder name can end the path or add a parameter.
func address(path string, params ...string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	abs = filepath.ToSlash(abs)
	if !strings.HasPrefix(abs, "/") {
		abs = "/" + abs
	}
	return "file://" + escape(abs) + "?" + strings.Join(params, "&"), nil
}

func escape(path string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := 0; i < len(path); i++ {
		switch c := path[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9',
			c == '/', c == '.', c == '-', c == '_', c == ':':
			b.WriteByte(c)
		default:
			b.WriteByte('%')
			b.WriteByte(hex[c>>4])
			b.WriteByte(hex[c&15])
		}
	}
	return b.String()
}
