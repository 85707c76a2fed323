package process

import (
	"math"
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"
)

// sleeper starts a process that does nothing until it is killed.
func sleeper(t *testing.T) *exec.Cmd {
	t.Helper()
	command := exec.Command(os.Args[0], "-test.run=^TestSleep$")
	command.Env = append(os.Environ(), "PROCESS_TEST_SLEEP=1")
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = command.Process.Kill(); _ = command.Wait() })
	return command
}

// TestSleep is the other process of sleeper.
func TestSleep(t *testing.T) {
	if os.Getenv("PROCESS_TEST_SLEEP") != "" {
		time.Sleep(time.Minute)
	}
}

func TestLook(t *testing.T) {
	t.Run("Self", func(t *testing.T) {
		seen := System{}.Look(int64(os.Getpid()))
		age := time.Since(time.UnixMilli(seen.Start.Ms))
		if seen.Gone || age < 0 || age > time.Hour {
			t.Errorf("this process is seen as %+v", seen)
		}
	})
	t.Run("Killed", func(t *testing.T) {
		before := time.Now()
		child := sleeper(t)
		pid := int64(child.Process.Pid)
		seen := System{}.Look(pid)
		start := time.UnixMilli(seen.Start.Ms)
		if seen.Gone || start.Before(before.Add(-time.Second)) || start.After(time.Now().Add(time.Second)) {
			t.Fatalf("a living process is seen as %+v", seen)
		}
		if again := (System{}).Look(pid); again.Start.Ticks != seen.Start.Ticks {
			t.Errorf("one process has two starts: %+v, %+v", seen, again)
		}
		if err := child.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		// It has ended when nobody has asked for its exit code yet, too.
		deadline := time.Now().Add(10 * time.Second)
		for !(System{}).Look(pid).Gone {
			if time.Now().After(deadline) {
				t.Fatal("a killed process is not gone")
			}
			time.Sleep(time.Millisecond)
		}
		_ = child.Wait()
		if !(System{}).Look(pid).Gone {
			t.Error("a process that was waited for is not gone")
		}
	})
	t.Run("NotMine", func(t *testing.T) {
		if runtime.GOOS != "windows" && (System{}).Look(1).Gone {
			t.Error("the first process is seen as gone")
		}
	})
	t.Run("NoID", func(t *testing.T) {
		for pid, gone := range map[int64]bool{0: false, -1: false, math.MinInt64: false, math.MaxInt32: true, math.MaxInt64: true} {
			if (System{}).Look(pid).Gone != gone || Alive(pid) {
				t.Errorf("%d is seen as a process, or as a dead one", pid)
			}
		}
	})
}

func TestHere(t *testing.T) {
	place := System{}.Here()
	if place.Host == "" {
		t.Error("the host has no name")
	}
	if runtime.GOOS == "linux" && (place.BootID == "" || place.PIDSpace == "") {
		t.Errorf("the place is not whole: %+v", place)
	}
}
