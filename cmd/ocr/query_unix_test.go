//go:build unix

package main

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"syscall"
	"testing"
)

// TestQueryMemory: a result of many rows needs no more memory than one of few,
// in every format. The rows together are far larger than the room allowed.
func TestQueryMemory(t *testing.T) {
	dir := aProject(t, t.TempDir())
	t.Setenv("TMPDIR", t.TempDir())
	used := func(rows int, format ...string) int64 {
		statement := fmt.Sprintf(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)
SELECT i, printf('%%.400c', 'x') AS text FROM n`, rows)
		cmd := asProcess(dir, append([]string{"db", "query", statement, "--limit", "0", "--timeout", "0"}, format...)...)
		var lines counter
		var stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &lines, &stderr
		if err := cmd.Run(); err != nil {
			t.Fatalf("%v: %s", err, stderr.String())
		}
		if int(lines) < rows*400 {
			t.Fatalf("%d bytes for %d rows", lines, rows)
		}
		size := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss
		if runtime.GOOS == "darwin" {
			size /= 1024
		}
		return int64(size)
	}
	for _, format := range [][]string{{"--json"}, {"--csv"}, nil} {
		few, many := used(100, format...), used(300_000, format...)
		t.Logf("%q: %d kB for 100 rows, %d kB for 300000", format, few, many)
		if many-few > 40<<10 {
			t.Errorf("%q: %d kB for 100 rows, %d kB for 300000", format, few, many)
		}
	}
	left, err := os.ReadDir(os.Getenv("TMPDIR"))
	must(t, err)
	if len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// counter counts what is written to it.
type counter int

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}
