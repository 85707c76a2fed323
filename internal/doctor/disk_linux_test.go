package doctor

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"ocr/internal/process"
	"ocr/internal/project"
)

// onSmallDisk copies a project to a disk of its own and returns the root.
func onSmallDisk(t *testing.T, p project.Project, options string) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, options); err != nil {
		t.Skip("a small disk cannot be mounted here: ", err)
	}
	t.Cleanup(func() { must(t, syscall.Unmount(dir, 0)) })
	root := filepath.Join(dir, "p")
	must(t, os.CopyFS(root, os.DirFS(p.Root)))
	return root
}

// startTicks is the mark of the start of this process.
func startTicks(t *testing.T) string {
	t.Helper()
	return fmt.Sprint(process.System{}.Look(int64(os.Getpid())).Start.Ticks)
}
