package project

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var defaults = Runtime{HeartbeatSeconds: 60, ForwardResumeMaxAttempts: 2, ForwardResumeLeaseSeconds: 1800}

func TestRuntime(t *testing.T) {
	all := Runtime{HeartbeatSeconds: 5, ForwardResumeMaxAttempts: 3, ForwardResumeLeaseSeconds: 7}
	cases := map[string]struct {
		config      string
		environment map[string]string
		want        Runtime
		warnings    []string // a part of each
	}{
		"NoRuntime":   {"other: [1, 2\n", nil, defaults, nil},
		"EmptyFile":   {"", nil, defaults, nil},
		"OnlyComment": {"# runtime:\n#   agent_heartbeat_seconds: 5\n", nil, defaults, nil},
		"NullRuntime": {"runtime:\n  # all left out\n", nil, defaults, nil},
		"All": {"a: 1\nruntime:\n  agent_heartbeat_seconds: 5 # soon\n  forward_resume_max_attempts: 3\n  forward_resume_lease_seconds: 7\n",
			nil, all, nil},
		"FlowStyle": {"{runtime: {agent_heartbeat_seconds: 5}}", nil, Runtime{5, 2, 1800}, nil},
		"Anchors":   {"x: &x 5\nbase: &b {agent_heartbeat_seconds: *x}\nruntime: *b\n", nil, Runtime{5, 2, 1800}, nil},
		"Unfit": {"runtime:\n  agent_heartbeat_seconds: soon\n  forward_resume_max_attempts: 0\n  forward_resume_lease_seconds: -1\n",
			nil, defaults, []string{"agent_heartbeat_seconds", "max_attempts", "lease_seconds"}},
		"Fraction": {"runtime: {agent_heartbeat_seconds: 1.5}", nil, defaults, []string{"agent_heartbeat_seconds"}},
		"Null":     {"runtime: {agent_heartbeat_seconds: ~}", nil, defaults, []string{"agent_heartbeat_seconds"}},
		"Text":     {"runtime: {agent_heartbeat_seconds: \"5\"}", nil, defaults, []string{"agent_heartbeat_seconds"}},
		"Nested":   {"runtime: {agent_heartbeat_seconds: {a: 1}}", nil, defaults, []string{"agent_heartbeat_seconds"}},
		"TooLarge": {"runtime: {agent_heartbeat_seconds: 99999999999999999999}", nil, defaults, []string{"agent_heartbeat_seconds"}},
		"AtTheBounds": {"runtime: {agent_heartbeat_seconds: 86400, forward_resume_lease_seconds: 2592000}",
			map[string]string{"OCR_FORWARD_RESUME_MAX_ATTEMPTS": "1000000"}, Runtime{86400, 1000000, 2592000}, nil},
		"PastTheBounds": {"runtime: {agent_heartbeat_seconds: 86401}", map[string]string{"OCR_FORWARD_RESUME_LEASE_SECONDS": "2592001"},
			defaults, []string{"from 1 to 86400", "from 1 to 2592000"}},
		"NotMapping": {"runtime: 5\n", nil, defaults, []string{"not a mapping"}},
		"Broken":     {"runtime: [\n", nil, defaults, []string{"config.yaml"}},
		"Binary":     {"runtime\x00\xff\xfe", nil, defaults, []string{"config.yaml"}},
		"EnvironmentWins": {"runtime: {agent_heartbeat_seconds: 5}", map[string]string{
			"OCR_AGENT_HEARTBEAT_SECONDS": "9", "OCR_FORWARD_RESUME_MAX_ATTEMPTS": "8", "OCR_FORWARD_RESUME_LEASE_SECONDS": "7"},
			Runtime{9, 8, 7}, nil},
		"EnvironmentUnfit": {"runtime: {agent_heartbeat_seconds: 5}", map[string]string{"OCR_AGENT_HEARTBEAT_SECONDS": "1x"},
			Runtime{5, 2, 1800}, []string{`OCR_AGENT_HEARTBEAT_SECONDS="1x"`}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			p := initProject(t)
			writeFile(t, p.Config(), c.config)
			checkRuntime(t, p, c.environment, c.want, c.warnings...)
		})
	}
	t.Run("NoFile", func(t *testing.T) {
		checkRuntime(t, initProject(t), nil, defaults)
	})
	t.Run("Directory", func(t *testing.T) {
		p := initProject(t)
		makeDirs(t, p.Config())
		checkRuntime(t, p, nil, defaults, "not a regular file")
	})
	t.Run("Huge", func(t *testing.T) {
		p := initProject(t)
		writeFile(t, p.Config(), "runtime: {agent_heartbeat_seconds: 5}\n"+strings.Repeat("#\n", maxConfigBytes))
		checkRuntime(t, p, nil, defaults, "more than")
	})
}

// TestRuntimeHostile: files made to cost time and memory do neither; the first
// one, once unfolded, would never end.
func TestRuntimeHostile(t *testing.T) {
	bomb := "a: &a [x, x, x, x, x, x, x, x, x]\n"
	for name := 'b'; name <= 'z'; name++ {
		above := string(name - 1)
		bomb += string(name) + ": &" + string(name) + " [" + strings.Repeat("*"+above+", ", 9) + "]\n"
	}
	for name, text := range map[string]string{
		"Bomb":      bomb + "runtime: {agent_heartbeat_seconds: *z}\n",
		"Deep":      "runtime: " + strings.Repeat("[", maxConfigBytes-100),
		"DeepBlock": "runtime:\n" + strings.Repeat("- ", maxConfigBytes/2-100),
		"Keys":      "runtime:\n" + strings.Repeat("? ", maxConfigBytes/2-100),
		"Comments":  "runtime: 1\n" + strings.Repeat("#\n", maxConfigBytes/2-100),
		"Quotes":    "runtime: \"" + strings.Repeat("\\x", maxConfigBytes/2-100),
		"Cycle":     "runtime: &r {agent_heartbeat_seconds: *r}\n",
	} {
		t.Run(name, func(t *testing.T) {
			p := initProject(t)
			writeFile(t, p.Config(), text)
			settings, warnings := p.Runtime(func(string) string { return "" })
			if settings != defaults || len(warnings) == 0 {
				t.Errorf("%+v, %q", settings, warnings)
			}
			for _, warning := range warnings {
				if len(warning) > 1000 {
					t.Errorf("a warning of %d bytes", len(warning))
				}
			}
		})
	}
}

func checkRuntime(t *testing.T, p Project, environment map[string]string, want Runtime, parts ...string) {
	t.Helper()
	settings, warnings := p.Runtime(func(name string) string { return environment[name] })
	if settings != want {
		t.Errorf("got %+v, want %+v", settings, want)
	}
	if len(warnings) != len(parts) {
		t.Fatalf("warnings %q, want %d", warnings, len(parts))
	}
	for i, part := range parts {
		if !strings.Contains(warnings[i], part) {
			t.Errorf("the warning %q does not name %q", warnings[i], part)
		}
	}
}

func TestReadBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, []byte("12345"), 0o666); err != nil {
		t.Fatal(err)
	}
	if text, err := ReadBounded(path, 5); err != nil || string(text) != "12345" {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := ReadBounded(path, 4); err == nil {
		t.Error("5 bytes were taken where 4 are the limit")
	}
}
