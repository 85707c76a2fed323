package project

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"ocr/internal/process"
)

// deadPID is the id of a process that has ended.
func deadPID(t *testing.T) int {
	t.Helper()
	command := exec.Command(os.Args[0], "-test.run=^$")
	if err := command.Run(); err != nil {
		t.Fatal(err)
	}
	return command.Process.Pid
}

func marker(uid string, pid int) string {
	return fmt.Sprintf(`{"execution_uid": %q, "pid": %d, "started_at": "2026-03-18T08:00:00.000Z"}`, uid, pid)
}

func TestLiveMarker(t *testing.T) {
	live, dead := os.Getpid(), deadPID(t)
	const older, newer = "dashboard-active-spawn.json", "dashboard-active-spawn/"
	cases := map[string]struct {
		files map[string]string
		want  string
	}{
		"None":      {nil, ""},
		"Newer":     {map[string]string{newer + "u1.json": marker("u1", live)}, "u1"},
		"Older":     {map[string]string{older: marker("u1", live)}, "u1"},
		"BothForms": {map[string]string{older: marker("u1", live), newer + "u1.json": marker("u1", live)}, "u1"},
		"Several":   {map[string]string{newer + "u1.json": marker("u1", live), newer + "u2.json": marker("u2", live)}, ""},
		"TwoForms":  {map[string]string{older: marker("u1", live), newer + "u2.json": marker("u2", live)}, ""},
		"Dead":      {map[string]string{newer + "u1.json": marker("u1", dead)}, ""},
		"LiveAmongDead": {map[string]string{older: marker("u0", dead), newer + "u1.json": marker("u1", live),
			newer + "u2.json": marker("u2", dead)}, "u1"},
		"BadAmongGood": {map[string]string{
			newer + "a.json":     "not JSON",
			newer + "b.json":     "",
			newer + "c.json":     "[]",
			newer + "d.json":     marker("", live),
			newer + "e.json":     marker("zero", 0),
			newer + "f.json":     marker("group", -live),
			newer + "g.json":     `{"execution_uid":"text","pid":"1"}`,
			newer + "h.json":     `{"execution_uid":"large","pid":4294967297}`,
			newer + "i.json/x":   "a directory of that name",
			newer + "j.json.tmp": marker("half", live),
			newer + "k.json":     strings.Repeat(" ", maxMarkerBytes) + marker("huge", live),
			newer + "u1.json":    marker("u1", live),
		}, "u1"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			p := initProject(t)
			for file, text := range c.files {
				writeFile(t, filepath.Join(p.Data(), filepath.FromSlash(file)), text)
			}
			if uid, ok := p.LiveMarker(); uid != c.want || ok != (c.want != "") {
				t.Errorf("got %q, %v, want %q", uid, ok, c.want)
			}
		})
	}
}

// TestAlive: the first process belongs to root. Tests run by anybody else prove
// with it that a refused signal counts as life.
func TestAlive(t *testing.T) {
	if runtime.GOOS != "windows" && !process.Alive(1) {
		t.Error("the first process is taken as dead")
	}
	if !process.Alive(int64(os.Getpid())) {
		t.Error("this process is taken as dead")
	}
	if process.Alive(int64(deadPID(t))) {
		t.Error("an ended process is taken as alive")
	}
}
