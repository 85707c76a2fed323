package doctor

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"ocr/internal/shell"
)

// programBinary says which program this is.
func programBinary(_ context.Context, x *exam) result {
	p := x.Program
	said := "ocr " + p.Version + " (commit " + p.Commit + ") at " + p.Path
	if p.Path == "" {
		return warn("ocr version", "ocr %s (commit %s); its file cannot be told", p.Version, p.Commit)
	}
	if _, err := os.Stat(p.Path); err != nil {
		return warn("ocr version", "%s, where that file is no more", said)
	}
	return ok("%s", said)
}

// programPath says which ocr a shell would start.
func programPath(_ context.Context, x *exam) result {
	found := onPath(x.Getenv, "ocr")
	switch {
	case len(found) == 0:
		return ok("no ocr on PATH")
	case !sameFile(found[0], x.Program.Path):
		return warn(shell.Quote(found[0])+" --version", "PATH leads to %s", strings.Join(found, ", then "))
	case len(found) > 1:
		return ok("%s, this program; behind it %s", found[0], strings.Join(found[1:], ", "))
	}
	return ok("%s, this program", found[0])
}

func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// onPath finds the programs of a name in the order of PATH, each file once.
func onPath(getenv func(string) string, name string) []string {
	names := []string{name}
	if runtime.GOOS == "windows" {
		names = []string{name + ".exe", name + ".cmd", name + ".bat"}
	}
	var found []string
	var seen []fs.FileInfo
	for _, dir := range filepath.SplitList(getenv("PATH")) {
		for _, name := range names {
			path := filepath.Join(dir, name)
			info, err := os.Stat(path)
			if err != nil || !info.Mode().IsRegular() || runtime.GOOS != "windows" && info.Mode()&0o111 == 0 {
				continue
			}
			known := false
			for _, other := range seen {
				known = known || os.SameFile(info, other)
			}
			if !known {
				found, seen = append(found, path), append(seen, info)
			}
		}
	}
	return found
}

func environmentGit(_ context.Context, x *exam) result {
	found := onPath(x.Getenv, "git")
	if len(found) == 0 {
		return warn("git --version", "not on PATH")
	}
	return ok("%s", found[0])
}

// assistants are the command line programs that people run reviews with.
var assistants = []string{"claude", "codex", "gemini", "opencode", "cursor-agent", "copilot", "gh"}

// environmentTools is for people to know: none of them is needed.
func environmentTools(_ context.Context, x *exam) result {
	var found, absent []string
	for _, tool := range assistants {
		if len(onPath(x.Getenv, tool)) > 0 {
			found = append(found, tool)
		} else {
			absent = append(absent, tool)
		}
	}
	if len(found) == 0 {
		return ok("none of %s", strings.Join(absent, ", "))
	}
	return ok("%s; not there: %s", strings.Join(found, ", "), strings.Join(absent, ", "))
}

func environmentSettings(_ context.Context, x *exam) result {
	settings, warnings := x.project.Runtime(x.Getenv)
	if len(warnings) > 0 {
		return warn("cat "+shell.Quote(x.project.Config()), "%s", strings.Join(warnings, "; "))
	}
	return ok("heartbeat %d s, %d attempts to resume, each held %d s",
		settings.HeartbeatSeconds, settings.ForwardResumeMaxAttempts, settings.ForwardResumeLeaseSeconds)
}
