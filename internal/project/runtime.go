package project

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"strconv"

	"go.yaml.in/yaml/v3"
)

// maxConfigBytes bounds what is read of the configuration. A real one has a few
// kilobytes.
const maxConfigBytes = 256 << 10

// Runtime holds the settings that govern running processes.
type Runtime struct {
	// HeartbeatSeconds is the age in seconds from which on a heartbeat is old.
	HeartbeatSeconds int64
	// ForwardResumeMaxAttempts is how often one round may be resumed.
	ForwardResumeMaxAttempts int64
	// ForwardResumeLeaseSeconds is how many seconds one resumption is held.
	ForwardResumeLeaseSeconds int64
}

// The highest settings that are taken: one day and thirty days. Beyond them a
// run whose workers are gone would not be told from one that is worked on.
const (
	MaxHeartbeatSeconds = 24 * 60 * 60
	MaxLeaseSeconds     = 30 * 24 * 60 * 60
)

// setting is one number of Runtime with the two places that may give it.
type setting struct {
	value    *int64
	key      string // below "runtime" in the configuration
	variable string // of the environment
	most     int64  // the highest value; 0 for none
}

func (r *Runtime) settings() []setting {
	return []setting{
		{&r.HeartbeatSeconds, "agent_heartbeat_seconds", "OCR_AGENT_HEARTBEAT_SECONDS", MaxHeartbeatSeconds},
		{&r.ForwardResumeMaxAttempts, "forward_resume_max_attempts", "OCR_FORWARD_RESUME_MAX_ATTEMPTS", 0},
		{&r.ForwardResumeLeaseSeconds, "forward_resume_lease_seconds", "OCR_FORWARD_RESUME_LEASE_SECONDS", MaxLeaseSeconds},
	}
}

// Runtime returns the settings of the project. The environment beats the
// configuration file, which beats the defaults (60, 2 and 1800). Whatever is no
// whole number from 1 up, or is above its bound, is skipped, and a warning says so; a variable set
// to the empty text counts as unset.
func (p Project) Runtime(getenv func(string) string) (settings Runtime, warnings []string) {
	settings = Runtime{HeartbeatSeconds: 60, ForwardResumeMaxAttempts: 2, ForwardResumeLeaseSeconds: 1800}
	configured, warnings := p.configured()
	for _, s := range settings.settings() {
		if node := configured[s.key]; node != nil {
			if value, ok := positiveNode(node); ok && s.within(value) {
				*s.value = value
			} else {
				warnings = append(warnings, fmt.Sprintf("%s: runtime.%s is not a whole number %s and is skipped",
					p.Config(), s.key, s.bounds()))
			}
		}
		if text := getenv(s.variable); text != "" {
			if value, ok := positive(text); ok && s.within(value) {
				*s.value = value
			} else {
				warnings = append(warnings, fmt.Sprintf("%s=%q is not a whole number %s and is skipped",
					s.variable, text, s.bounds()))
			}
		}
	}
	return settings, warnings
}

func (s setting) within(value int64) bool { return s.most == 0 || value <= s.most }

func (s setting) bounds() string {
	if s.most == 0 {
		return "from 1 up"
	}
	return fmt.Sprintf("from 1 to %d", s.most)
}

func positive(text string) (int64, bool) {
	value, err := strconv.ParseInt(text, 10, 64)
	return value, err == nil && value >= 1
}

func positiveNode(node *yaml.Node) (int64, bool) {
	if node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	var value int64
	if node.ShortTag() != "!!int" || node.Decode(&value) != nil {
		return 0, false
	}
	return value, value >= 1
}

// configured returns the values below "runtime" in the configuration file. A
// file without that word is not parsed. Aliases are looked at and never
// expanded, so the work is bounded by the size of the file.
func (p Project) configured() (values map[string]*yaml.Node, warnings []string) {
	text, err := ReadBounded(p.Config(), maxConfigBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, []string{fmt.Sprintf("the configuration is passed over: %v", err)}
	}
	if !bytes.Contains(text, []byte("runtime")) {
		return nil, nil
	}
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, []string{fmt.Sprintf("the configuration %s is passed over: %v", p.Config(), err)}
	}
	runtime := child(&document, "runtime")
	switch {
	case runtime == nil || runtime.ShortTag() == "!!null":
		return nil, nil
	case runtime.Kind != yaml.MappingNode:
		return nil, []string{fmt.Sprintf("%s: runtime is not a mapping and is passed over", p.Config())}
	}
	values = map[string]*yaml.Node{}
	for i := 0; i+1 < len(runtime.Content); i += 2 {
		values[runtime.Content[i].Value] = runtime.Content[i+1]
	}
	return values, nil
}

// child returns the value of key in the mapping that document holds, or nil.
func child(document *yaml.Node, key string) *yaml.Node {
	if len(document.Content) == 0 || document.Content[0].Kind != yaml.MappingNode {
		return nil
	}
	pairs := document.Content[0].Content
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i].Value != key {
			continue
		}
		if pairs[i+1].Kind == yaml.AliasNode {
			return pairs[i+1].Alias
		}
		return pairs[i+1]
	}
	return nil
}
