package journal

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"ocr/internal/history"
)

// agentsEach is how often each of the agents starts, beats and ends. More can
// be asked for with JOURNAL_TEST_EACH.
const agentsEach = 10

// TestAgents: 24 processes work at once, and nothing is lost.
func TestAgents(t *testing.T) {
	const processes = 24
	each := agentsEach
	if text := os.Getenv("JOURNAL_TEST_EACH"); text != "" {
		var err error
		each, err = strconv.Atoi(text)
		must(t, err)
	}
	d := newDesk(t)
	begun := time.Now()
	var agents []*exec.Cmd
	for range processes {
		agent := command("work", d.Project.Root, strconv.Itoa(each))
		must(t, agent.Start())
		agents = append(agents, agent)
	}
	for _, agent := range agents {
		if err := agent.Wait(); err != nil {
			t.Error(err)
		}
	}
	t.Logf("%d processes, %d instances each: %v", processes, each, time.Since(begun))
	want := strconv.Itoa(processes * each)
	if got := d.text("SELECT count(DISTINCT uid) FROM command_executions WHERE exit_code = 0 AND finished_at IS NOT NULL"); got != want {
		t.Errorf("%s instances are done, want %s", got, want)
	}
	if got := d.text("SELECT count(*) FROM process_identity WHERE pid_started_ms IS NOT NULL"); got != want {
		t.Errorf("%s instances are identified, want %s", got, want)
	}
	log, err := history.Replay(history.Path(d.Project.Data()))
	must(t, err)
	if len(log.Entries) != processes*each || log.Bad != 0 || log.Started != 0 {
		t.Errorf("the recovery log has %d of %s, %d bad, %d only started", len(log.Entries), want, log.Bad, log.Started)
	}
}

// work is one agent.
func work(root, each string) error {
	ctx := context.Background()
	c := caller(root)
	c.Notice = func(line string) { fmt.Fprintln(os.Stderr, line) }
	n, err := strconv.Atoi(each)
	if err != nil {
		return err
	}
	for i := range n {
		started, err := Start(ctx, c, StartRequest{
			Workflow: "s", Vendor: "v", Persona: "p", Instance: ptr(int64(i)), PID: ptr(int64(os.Getpid())),
		})
		if err != nil {
			return err
		}
		if _, err := Bind(ctx, c, BindRequest{ID: started.ID, VendorID: fmt.Sprint("v", os.Getpid(), "-", i)}); err != nil {
			return err
		}
		if _, err := Beat(ctx, c, started.ID); err != nil {
			return err
		}
		if _, err := End(ctx, c, EndRequest{ID: started.ID}); err != nil {
			return err
		}
	}
	return nil
}
