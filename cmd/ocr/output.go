package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"

	"ocr/internal/artifact"
)

// schemaVersion is the version of the shape of all JSON that ocr prints.
const schemaVersion = 1

// print writes the result of a command: value as one line of JSON under --json,
// else what text writes. Nothing is written unless all of it can be made.
func (a *app) print(value any, text func(w io.Writer)) error {
	if a.json {
		line, err := encode(value)
		if err != nil {
			return err
		}
		return a.write(line)
	}
	var b bytes.Buffer
	text(&b)
	return a.write([]byte(printable(b.String())))
}

func (a *app) write(result []byte) error {
	_, err := resultWriter{a.stdout}.Write(result)
	return err
}

// resultWriter is stdout; its errors say so.
type resultWriter struct{ out io.Writer }

func (w resultWriter) Write(p []byte) (int, error) {
	n, err := w.out.Write(p)
	if err != nil {
		return n, &outputError{err}
	}
	return n, nil
}

// outputError says that standard output did not take the result of a command.
// What the command was for may be done.
type outputError struct{ err error }

func (e *outputError) Error() string {
	return "the result could not be written to stdout: " + e.err.Error()
}

func (e *outputError) Unwrap() error { return e.err }

// fail reports err as the caller asked and returns the exit code: words on
// stderr, and under --json one object on stdout.
func (a *app) fail(err error) int {
	f := explain(err)
	var usage *usageError
	if errors.As(err, &usage) && usage.usage != "" {
		a.paragraph(usage.usage)
	}
	var invalid *artifact.Invalid
	if errors.As(err, &invalid) {
		a.paragraph("error: " + invalid.Error()) // a line for each fault
	} else {
		a.note("error: %s", f.Message)
	}
	if f.Hint != "" {
		a.note("next: %s", f.Hint)
	}
	if a.json {
		line, encodeErr := encode(struct {
			SchemaVersion int     `json:"schema_version"`
			Error         failure `json:"error"`
		}{schemaVersion, f})
		if encodeErr == nil {
			encodeErr = a.write(line)
		}
		if encodeErr != nil {
			a.note("error: %v", encodeErr)
		}
	}
	return f.Code
}

// encode makes one line of JSON. Keys keep the order of the struct. Characters
// that could move the cursor or turn the text of a terminal are escaped.
func encode(value any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		return nil, fmt.Errorf("making JSON of the result: %w", err)
	}
	if bytes.IndexFunc(b.Bytes(), func(r rune) bool { return r != '\n' && unprintable(r) }) < 0 {
		return b.Bytes(), nil
	}
	var out strings.Builder
	for _, r := range b.String() {
		if r != '\n' && unprintable(r) {
			fmt.Fprintf(&out, `\u%04x`, r)
			continue
		}
		out.WriteRune(r)
	}
	return []byte(out.String()), nil
}

// printable shows text of many lines on a terminal: what could act on it is
// escaped, tabs and ends of lines stay.
func printable(text string) string {
	return escape(text, func(r rune) bool { return r != '\n' && r != '\t' && unprintable(r) })
}

// oneLine shows a text that others wrote, such as a title, within a line.
func oneLine(text string) string {
	return escape(text, unprintable)
}

func escape(text string, unfit func(rune) bool) string {
	if strings.IndexFunc(text, unfit) < 0 {
		return strings.ToValidUTF8(text, "\uFFFD")
	}
	var b strings.Builder
	for _, r := range text {
		switch {
		case !unfit(r):
			b.WriteRune(r)
		case r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// unprintable are control characters, and those that reorder text.
func unprintable(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029'
}
