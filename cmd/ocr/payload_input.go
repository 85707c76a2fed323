package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"time"

	"ocr/internal/artifact"
	"ocr/internal/lifecycle"
)

// payloadFlags say whose result a completion brings, and from where.
type payloadFlags struct {
	id     *string
	stdin  *bool
	file   *string
	schema *bool
}

func declarePayload(fs *flag.FlagSet) payloadFlags {
	return payloadFlags{
		id:     sessionFlag(fs),
		stdin:  fs.Bool("stdin", false, "read the payload from standard input, where it must begin within 300 s"),
		file:   pathFlag(fs, "file", "read the payload from `FILE`, which is a regular file"),
		schema: fs.Bool("print-schema", false, "print the JSON Schema of the payload, and do nothing else"),
	}
}

// printSchema prints the format of the payload; it needs no project.
func (a *app) printSchema(c *command, in payloadFlags, schema []byte) error {
	if *in.stdin || *in.file != "" {
		return c.usageError("--print-schema takes no payload")
	}
	return a.print(json.RawMessage(schema), func(w io.Writer) { _, _ = w.Write(schema) })
}

// completion reads the payload, which is checked before the session is.
func (a *app) completion(ctx context.Context, c *command, in payloadFlags) (lifecycle.CompleteRequest, lifecycle.Caller, error) {
	request := lifecycle.CompleteRequest{SessionID: *in.id}
	if *in.stdin == (*in.file != "") {
		return request, lifecycle.Caller{}, c.usageError("%s needs --stdin or --file FILE, one of them", c.path)
	}
	caller, err := a.caller()
	if err != nil {
		return request, caller, err
	}
	if *in.file == "" {
		request.Payload, err = a.payloadFromStdin(ctx, firstByte)
	} else {
		request.Payload, err = unlessStopped(ctx, func() ([]byte, error) {
			return c.payloadFromFile(a.fromDir(*in.file))
		})
	}
	return request, caller, err
}

// payloadFromFile reads a regular file, or one that a link leads to.
func (c *command) payloadFromFile(path string) ([]byte, error) {
	// Opening a pipe waits for ever for somebody who writes to it.
	info, err := os.Stat(path)
	if err != nil {
		return nil, &payloadFileError{path, err}
	}
	if !info.Mode().IsRegular() {
		return nil, &usageError{
			message: fmt.Sprintf("%s is %s, not a regular file", path, fileType(info.Mode())),
			hint:    "name a file that holds the payload, or pipe the payload into " + c.path + " --stdin",
		}
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, &payloadFileError{path, err}
	}
	defer f.Close()
	return readPayload(f)
}

// fileType names what is no regular file.
func fileType(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "a folder"
	case mode&fs.ModeNamedPipe != 0:
		return "a pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	}
	return "a device"
}

// patience is how long the first byte of standard input may take.
type patience struct {
	tell time.Duration // before a line says what is waited for
	give time.Duration // before it is given up
}

var firstByte = patience{tell: 5 * time.Second, give: 300 * time.Second}

// payloadFromStdin reads standard input to its end. A terminal or a pipe on which
// nobody writes must not hold an agent for ever.
func (a *app) payloadFromStdin(ctx context.Context, wait patience) ([]byte, error) {
	source := &firstByteReader{in: a.stdin, came: make(chan struct{})}
	type outcome struct {
		data []byte
		err  error
	}
	done := make(chan outcome, 1)
	go func() {
		data, err := readPayload(source)
		done <- outcome{data, err}
	}()
	came, tell, give := source.came, time.After(wait.tell), time.After(wait.give)
	for {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case o := <-done:
			return o.data, o.err
		case <-came:
			came, tell, give = nil, nil, nil
		case <-tell:
			a.note("waiting for the payload on standard input; nothing came for %s, and after %s the command gives up", wait.tell, wait.give)
		case <-give:
			return nil, &noPayloadError{wait.give}
		}
	}
}

// firstByteReader closes came with the first byte of in.
type firstByteReader struct {
	in   io.Reader
	came chan struct{}
	once sync.Once
}

func (r *firstByteReader) Read(p []byte) (int, error) {
	n, err := r.in.Read(p)
	if n > 0 {
		r.once.Do(func() { close(r.came) })
	}
	return n, err
}

// noPayloadError says that nothing came on standard input.
type noPayloadError struct{ waited time.Duration }

func (e *noPayloadError) Error() string {
	return fmt.Sprintf("no byte of the payload came on standard input within %s", e.waited)
}

// readPayload reads one byte more than is allowed, which is enough to refuse it.
func readPayload(source io.Reader) ([]byte, error) {
	payload, err := io.ReadAll(io.LimitReader(source, artifact.MaxPayload+1))
	if err != nil {
		return nil, fmt.Errorf("reading the payload: %w", err)
	}
	return payload, nil
}

// payloadFileError says that the file named with --file cannot be opened.
type payloadFileError struct {
	path string
	err  error
}

func (e *payloadFileError) Error() string {
	return fmt.Sprintf("the payload file %s cannot be opened: %v", e.path, e.err)
}

func (e *payloadFileError) Unwrap() error { return e.err }
