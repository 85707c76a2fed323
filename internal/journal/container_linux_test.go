package journal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"ocr/internal/process"
)

// TestContainer runs this program as the first process of a PID namespace,
// where process ids can be given again at will.
func TestContainer(t *testing.T) {
	d := newDesk(t)
	pid, kill := sleeper(t)
	outside := d.start(StartRequest{Name: "outside", PID: &pid})
	kill()
	d.age(outside)
	c := command("container", d.Project.Root)
	c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNS}
	switch err := c.Run(); {
	case errors.Is(err, syscall.EPERM), errors.Is(err, syscall.EINVAL), errors.Is(err, syscall.ENOSYS):
		t.Skipf("this system allows no PID namespace: %v", err)
	case err != nil:
		t.Fatal(err)
	}
	d.wantStatus(outside, "running", -99) // nothing could be told from there
	if dead := d.sweep(SweepRequest{}).Orphaned; len(dead) != 1 || dead[0].ID != outside {
		t.Errorf("got %+v", dead)
	}
	listed, err := List(context.Background(), d.Caller, ListRequest{Workflow: "s"})
	must(t, err)
	statuses := map[string]string{}
	for _, row := range listed {
		statuses[*row.Name] = row.Status
		if *row.Name == "living" && (row.Verdict.State != process.Unknown || !strings.Contains(row.Verdict.Reason, "pid:[")) {
			t.Errorf("of a process in a container it is said: %+v", row.Verdict)
		}
	}
	if want := "map[living:running outside:orphaned reused:orphaned]"; fmt.Sprint(statuses) != want {
		t.Errorf("got %v, want %s", statuses, want)
	}
}

// insideContainer records two processes, ends one, and has its id given to
// another one.
func insideContainer(root string) error {
	ctx := context.Background()
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return err
	}
	if err := syscall.Mount("proc", "/proc", "proc", 0, ""); err != nil {
		return err
	}
	c := caller(root)
	record := func(name string, pid int) error {
		_, err := Start(ctx, c, StartRequest{Workflow: "s", Vendor: "v", Name: name, PID: ptr(int64(pid))})
		return err
	}
	living, first := command("sleep"), command("sleep")
	if err := errors.Join(living.Start(), first.Start()); err != nil {
		return err
	}
	pid := first.Process.Pid
	if err := errors.Join(record("living", living.Process.Pid), record("reused", pid)); err != nil {
		return err
	}
	_ = first.Process.Kill()
	_ = first.Wait()
	time.Sleep(30 * time.Millisecond) // starts are told apart by hundredths of a second
	for try := 0; ; try++ {
		if try == 100 {
			return fmt.Errorf("the id %d is not given again", pid)
		}
		if err := os.WriteFile("/proc/sys/kernel/ns_last_pid", []byte(fmt.Sprint(pid-1)), 0); err != nil {
			return err
		}
		second := command("sleep")
		if err := second.Start(); err != nil {
			return err
		}
		if second.Process.Pid == pid {
			break
		}
		_ = second.Process.Kill()
		_ = second.Wait()
	}
	pool, err := openDatabase(c.Project)
	if err != nil {
		return err
	}
	_, err = pool.Exec("UPDATE command_executions SET last_heartbeat_at = datetime('now', '-10 minutes')")
	if err := errors.Join(err, pool.Close()); err != nil {
		return err
	}
	result, err := Sweep(ctx, c, SweepRequest{})
	if err != nil {
		return err
	}
	if len(result.Orphaned) != 1 || result.Orphaned[0].Name != "reused" || !strings.Contains(result.Orphaned[0].Reason, "another process") ||
		len(result.Unknown) != 1 || result.Unknown[0].Name != "outside" {
		return fmt.Errorf("the sweep found %+v", result)
	}
	return nil
}
