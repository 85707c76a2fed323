package doctor

import "testing"

// TestFilesystem: no test machine mounts a network, so the judgement alone is
// held to its word.
func TestFilesystem(t *testing.T) {
	for _, c := range []struct {
		disk disk
		want Status
	}{
		{disk{kind: "nfs", network: true}, Fail}, {disk{kind: "9p", network: true}, Fail},
		{disk{kind: "ext4"}, OK}, {disk{}, OK},
	} {
		if got := judgeFilesystem(c.disk, "x"); got.status != c.want {
			t.Errorf("%+v: %+v, want %s", c.disk, got, c.want)
		}
	}
}
