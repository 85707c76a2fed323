package project

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"ocr/internal/process"
)

// maxMarkerBytes bounds what is read of one spawn marker.
const maxMarkerBytes = 64 << 10

// spawnMarker is what the dashboard writes when it starts a process.
type spawnMarker struct {
	ExecutionUID string `json:"execution_uid"`
	PID          int64  `json:"pid"`
}

// LiveMarker returns the execution uid of the one spawn marker whose process
// is alive. It reports false when there is none, and when there are several:
// which of them is meant cannot be known then. Files that are no marker are
// passed over. The same uid in the newer and the older form counts once.
func (p Project) LiveMarker() (uid string, ok bool) {
	for _, path := range p.markerFiles() {
		found, live := liveUID(path)
		if !live || found == uid {
			continue
		}
		if uid != "" {
			return "", false
		}
		uid = found
	}
	return uid, uid != ""
}

// markerFiles lists the markers in the newer form, one file for each process,
// and the one file of the older form.
func (p Project) markerFiles() []string {
	dir := filepath.Join(p.Data(), "dashboard-active-spawn")
	paths := []string{dir + ".json"}
	// What can be listed counts, even if the listing breaks off.
	entries, _ := os.ReadDir(dir)
	for _, entry := range entries {
		if strings.HasSuffix(entry.Name(), ".json") {
			paths = append(paths, filepath.Join(dir, entry.Name()))
		}
	}
	return paths
}

func liveUID(path string) (string, bool) {
	text, err := ReadBounded(path, maxMarkerBytes)
	if err != nil {
		return "", false
	}
	var marker spawnMarker
	if err := json.Unmarshal(text, &marker); err != nil {
		return "", false
	}
	if marker.ExecutionUID == "" {
		return "", false
	}
	return marker.ExecutionUID, process.Alive(marker.PID)
}
