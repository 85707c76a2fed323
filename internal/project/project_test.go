package project

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
)

// folderNames are names that a path glued into an address or a shell breaks at.
func folderNames() []string {
	names := []string{"sp ace", "ha#sh", "pc%20t", "a&b", "qu'ote", "ünï-数据", " lead", "semi;colon"}
	if runtime.GOOS != "windows" {
		names = append(names, "q?mark", `dou"ble`, "new\nline", `back\slash`)
	}
	return names
}

// tempDir is a fresh directory without symbolic links in its path.
func tempDir(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func makeDirs(t *testing.T, paths ...string) {
	t.Helper()
	for _, path := range paths {
		if err := os.MkdirAll(path, 0o777); err != nil {
			t.Fatal(err)
		}
	}
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	makeDirs(t, filepath.Dir(path))
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

func initProject(t *testing.T) Project {
	t.Helper()
	dir := tempDir(t)
	if _, err := Init(dir); err != nil {
		t.Fatal(err)
	}
	return Project{Root: dir}
}

func TestFind(t *testing.T) {
	t.Run("OK", func(t *testing.T) {
		for _, name := range folderNames() {
			root := filepath.Join(tempDir(t), name)
			deep := filepath.Join(root, "a", "b")
			makeDirs(t, deep, filepath.Join(root, Marker))
			for _, start := range []string{root, deep} {
				p, err := Find(start)
				if err != nil || p.Root != root {
					t.Errorf("Find(%q) = %q, %v", start, p.Root, err)
				}
			}
		}
	})
	t.Run("Nearest", func(t *testing.T) {
		outer := tempDir(t)
		inner := filepath.Join(outer, "in")
		makeDirs(t, filepath.Join(outer, Marker), filepath.Join(inner, Marker))
		if p, err := Find(inner); err != nil || p.Root != inner {
			t.Errorf("got %q, %v", p.Root, err)
		}
	})
	t.Run("NearestDecides", func(t *testing.T) {
		for name, mark := range map[string]func(marker string) error{
			"File":         func(marker string) error { return os.WriteFile(marker, nil, 0o644) },
			"DanglingLink": func(marker string) error { return os.Symlink("gone", marker) },
			"Loop":         func(marker string) error { return os.Symlink(Marker, marker) },
			"LinkToFile": func(marker string) error {
				return errors.Join(os.WriteFile(marker+"-file", nil, 0o644), os.Symlink(Marker+"-file", marker))
			},
		} {
			outer := tempDir(t)
			inner := filepath.Join(outer, "in")
			deep := filepath.Join(inner, "deep")
			makeDirs(t, filepath.Join(outer, Marker), deep)
			marker := filepath.Join(inner, Marker)
			if err := mark(marker); err != nil {
				t.Skip("this system makes no symbolic links here: ", err)
			}
			for _, start := range []string{inner, deep} {
				_, err := Find(start)
				var blocked *Blocked
				if !errors.As(err, &blocked) || blocked.Path != marker {
					t.Errorf("%s: from %s: %v", name, start, err)
				}
			}
		}
	})
	t.Run("LinkedMarker", func(t *testing.T) {
		dir := tempDir(t)
		makeDirs(t, filepath.Join(dir, "store"), filepath.Join(dir, "p"))
		if err := os.Symlink(filepath.Join("..", "store"), filepath.Join(dir, "p", Marker)); err != nil {
			t.Skip("this system makes no symbolic links here: ", err)
		}
		if p, err := Find(filepath.Join(dir, "p")); err != nil || p.Root != filepath.Join(dir, "p") {
			t.Errorf("got %q, %v", p.Root, err)
		}
	})
	t.Run("ThroughLink", func(t *testing.T) {
		dir := tempDir(t)
		root := filepath.Join(dir, "root")
		makeDirs(t, filepath.Join(root, Marker), filepath.Join(root, "sub"))
		link := filepath.Join(dir, "link")
		if err := os.Symlink(filepath.Join(root, "sub"), link); err != nil {
			t.Skip("this system makes no symbolic links here: ", err)
		}
		if p, err := Find(link); err != nil || p.Root != root {
			t.Errorf("got %q, %v", p.Root, err)
		}
	})
	t.Run("NotFound", func(t *testing.T) {
		dir := tempDir(t)
		_, err := Find(dir)
		var notFound *NotFound
		if !errors.As(err, &notFound) || notFound.Start != dir {
			t.Errorf("got %v", err)
		}
	})
	t.Run("NoStart", func(t *testing.T) {
		outer := tempDir(t)
		makeDirs(t, filepath.Join(outer, Marker))
		if _, err := Find(filepath.Join(outer, "gone")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("got %v", err)
		}
		writeFile(t, filepath.Join(outer, "file"), "")
		if _, err := Find(filepath.Join(outer, "file")); err == nil {
			t.Error("a file was taken as the start")
		}
	})
}

func TestPaths(t *testing.T) {
	p := Project{Root: filepath.FromSlash("/r")}
	for want, got := range map[string]string{
		"/r/.ocr":                    p.Dir(),
		"/r/.ocr/sessions":           p.Sessions(),
		"/r/.ocr/data":               p.Data(),
		"/r/.ocr/data/ocr.db":        p.Database(),
		"/r/.ocr/data/dashboard.pid": p.DashboardPID(),
		"/r/.ocr/config.yaml":        p.Config(),
	} {
		if got != filepath.FromSlash(want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestInit(t *testing.T) {
	all := []string{".ocr/", ".ocr/sessions/", ".ocr/data/", ".ocr/skills/", ".ocr/.gitignore", ".ocr/data/.gitignore"}
	t.Run("OK", func(t *testing.T) {
		for _, name := range folderNames() {
			parent := tempDir(t)
			dir := filepath.Join(parent, name)
			makeDirs(t, dir)
			created, err := Init(dir)
			if err != nil || !slices.Equal(created, all) {
				t.Fatalf("%q: %q, %v", name, created, err)
			}
			if p, err := Find(dir); err != nil || p.Root != dir {
				t.Errorf("%q: found %q, %v", name, p.Root, err)
			}
			if entries, _ := os.ReadDir(parent); len(entries) != 1 {
				t.Errorf("%q: something was made beside it: %v", name, entries)
			}
		}
	})
	t.Run("Again", func(t *testing.T) {
		p := initProject(t)
		mine := filepath.Join(p.Dir(), ".gitignore")
		writeFile(t, mine, "mine")
		writeFile(t, p.Database(), "data")
		created, err := Init(p.Root)
		if err != nil || len(created) != 0 {
			t.Errorf("%q, %v", created, err)
		}
		for path, want := range map[string]string{mine: "mine", p.Database(): "data"} {
			if text, err := os.ReadFile(path); err != nil || string(text) != want {
				t.Errorf("%s is now %q, %v", path, text, err)
			}
		}
	})
	t.Run("Completes", func(t *testing.T) {
		dir := tempDir(t)
		makeDirs(t, filepath.Join(dir, Marker, "sessions"))
		created, err := Init(dir)
		if err != nil || !slices.Equal(created, []string{".ocr/data/", ".ocr/skills/", ".ocr/.gitignore", ".ocr/data/.gitignore"}) {
			t.Errorf("%q, %v", created, err)
		}
	})
	t.Run("Blocked", func(t *testing.T) {
		for _, in := range []string{Marker, filepath.Join(Marker, "data"), filepath.Join(Marker, "sessions")} {
			dir := tempDir(t)
			path := filepath.Join(dir, in)
			writeFile(t, path, "mine")
			_, err := Init(dir)
			var blocked *Blocked
			if !errors.As(err, &blocked) || blocked.Path != path {
				t.Errorf("%s: %v", in, err)
			}
			if text, _ := os.ReadFile(path); string(text) != "mine" {
				t.Errorf("%s is now %q", in, text)
			}
		}
	})
	t.Run("AtOnce", func(t *testing.T) {
		dir := tempDir(t)
		results := make(chan error, 8)
		for range cap(results) {
			go func() {
				_, err := Init(dir)
				results <- err
			}()
		}
		for range cap(results) {
			if err := <-results; err != nil {
				t.Error(err)
			}
		}
	})
}

func TestSessionDir(t *testing.T) {
	p := initProject(t)
	home := filepath.Join(p.Sessions(), "s")
	elsewhere := tempDir(t)
	gone := filepath.Join(elsewhere, "gone")
	check := func(name, stored, id, want string) {
		t.Run(name, func(t *testing.T) {
			if got := p.SessionDir(stored, id); got != want {
				t.Errorf("SessionDir(%q, %q) = %q, want %q", stored, id, got, want)
			}
		})
	}
	check("Relative", filepath.Join(Marker, "sessions", "s"), "s", home)
	check("Absolute", elsewhere, "s", elsewhere)
	check("Empty", "", "s", home)
	check("GoneAndNoHome", gone, "s", gone)
	makeDirs(t, home)
	check("GoneButHome", gone, "s", home)
	check("HereAndHome", elsewhere, "s", elsewhere)
	check("OtherSystem", `C:\work\.ocr\sessions\s`, "s", home)
	check("HostileID", gone, "..", gone)
	check("HostileIDAlone", "", "../../x", filepath.Join(p.Sessions(), "x"))
	writeFile(t, filepath.Join(p.Sessions(), "f"), "")
	check("HomeIsAFile", gone, "f", gone)
}
