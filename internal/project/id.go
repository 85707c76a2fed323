package project

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxIDBytes is the longest new session id, in bytes. With it the folder name
// leaves room for suffixes below the usual limit of 255.
const MaxIDBytes = 200

// BadID says why a text cannot become the id of a new session, and which id
// was probably meant.
type BadID struct {
	ID         string
	Reason     string
	Suggestion string
}

func (e *BadID) Error() string {
	return fmt.Sprintf("session id %q %s", e.ID, e.Reason)
}

// CheckNewID holds the id of a new session to what is a file name on every
// system: 1 to MaxIDBytes bytes of UTF-8 without path separators, control
// characters or <>:"|?*, not starting with a dot or dash, not ending in a dot
// or space, and no device name of Windows. The error is a *BadID whose
// Suggestion passes. Ids that already stand in a database are not held to it.
func CheckNewID(id string) error {
	if reason := idFault(id); reason != "" {
		return &BadID{ID: id, Reason: reason, Suggestion: suggestID(id)}
	}
	return nil
}

func idFault(id string) string {
	switch {
	case id == "":
		return "is empty"
	case len(id) > MaxIDBytes:
		return fmt.Sprintf("is longer than %d bytes", MaxIDBytes)
	case !utf8.ValidString(id):
		return "is not valid UTF-8"
	}
	if i := strings.IndexFunc(id, unfitForName); i >= 0 {
		r, _ := utf8.DecodeRuneInString(id[i:])
		return fmt.Sprintf("holds %q, which not every system takes in a file name", r)
	}
	switch {
	case strings.HasPrefix(id, "."), strings.HasPrefix(id, "-"):
		return fmt.Sprintf("starts with %q", id[0])
	case strings.HasSuffix(id, "."), strings.HasSuffix(id, " "):
		return fmt.Sprintf("ends in %q", id[len(id)-1])
	case deviceName(id):
		return "is the name of a device on Windows"
	}
	return ""
}

func unfitForName(r rune) bool {
	return unicode.IsControl(r) || strings.ContainsRune(`/\<>:"|?*`, r)
}

// deviceName knows the names that Windows keeps for devices, whatever
// extension follows: learn.microsoft.com, "Naming Files, Paths, and Namespaces".
func deviceName(id string) bool {
	base, _, _ := strings.Cut(strings.ToUpper(id), ".")
	base = strings.TrimRight(base, " ")
	switch base {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$":
		return true
	}
	port, ok := strings.CutPrefix(base, "COM")
	if !ok {
		port, ok = strings.CutPrefix(base, "LPT")
	}
	return ok && utf8.RuneCountInString(port) == 1 && strings.ContainsAny(port, "123456789\u00b9\u00b2\u00b3")
}

// suggestID turns any text into an id that CheckNewID accepts and that stays
// as close to the text as it can.
func suggestID(id string) string {
	id = strings.ToValidUTF8(id, "-")
	id = strings.Map(func(r rune) rune {
		if unfitForName(r) {
			return '-'
		}
		return r
	}, id)
	id = strings.TrimLeft(id, ".- ")
	if deviceName(id) {
		id = "session-" + id
	}
	for len(id) > MaxIDBytes {
		_, size := utf8.DecodeLastRuneInString(id)
		id = id[:len(id)-size]
	}
	id = strings.TrimRight(id, ".- ")
	if id == "" || deviceName(id) {
		return "session"
	}
	return id
}
