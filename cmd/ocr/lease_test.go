package main

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestOneLease: of many processes that take over one round at the same moment
// one wins, and only that one moves the round afterwards.
func TestOneLease(t *testing.T) {
	t.Parallel()
	dir := aProject(t, filepath.Join(t.TempDir(), "p"))
	const many = 32
	racers := make([]*exec.Cmd, many)
	answers := make([]chan []byte, many)
	for i := range racers {
		racers[i] = asProcess(dir, "state", "resume", "--session-id", "s", "--now", "--json")
		answers[i] = make(chan []byte, 1)
		go func() {
			out, _ := racers[i].Output()
			answers[i] <- out
		}()
	}
	var token string
	won, held := 0, 0
	for i := range racers {
		var got struct {
			Resumed bool
			Lease   *lease
			Error   failure
		}
		out := <-answers[i]
		if err := json.Unmarshal(out, &got); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		switch code := racers[i].ProcessState.ExitCode(); {
		case code == exitOK && got.Resumed && got.Lease != nil:
			won++
			token = got.Lease.Token
		case code == exitInvariant && got.Error.Kind == "lease_held":
			held++
		default:
			t.Errorf("exit %d: %s", code, out)
		}
	}
	if won != 1 || held != many-1 {
		t.Fatalf("%d won, %d were refused", won, held)
	}
	for i := range 4 {
		cmd := asProcess(dir, "state", "advance", "--session-id", "s", "--phase", "change-context")
		if i == 3 {
			cmd.Args = append(cmd.Args, "--lease", token)
		}
		out, _ := cmd.CombinedOutput()
		want := exitInvariant
		if i == 3 {
			want = exitOK
		}
		if got := cmd.ProcessState.ExitCode(); got != want {
			t.Errorf("call %d ended with %d: %s", i, got, out)
		}
	}
}
