package spelling

import "testing"

func TestNearest(t *testing.T) {
	names := []string{"state", "session", "status", "dry-run", "json"}
	for word, want := range map[string]string{
		"statement": "state", "State": "state", "jsonn": "json", "dry": "dry-run",
		"sesion": "session", "nonsense": "", "x": "",
	} {
		if got := Nearest(word, names); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", word, got, want)
		}
	}
}
