package main

import "context"

// unlessStopped returns what read returns, or the error of ctx once that ends:
// opening and reading a pipe may wait for ever for its other end, and no signal
// wakes them. What still waits then ends with the program.
func unlessStopped(ctx context.Context, read func() ([]byte, error)) ([]byte, error) {
	type outcome struct {
		data []byte
		err  error
	}
	done := make(chan outcome, 1)
	go func() {
		data, err := read()
		done <- outcome{data, err}
	}()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case o := <-done:
		return o.data, o.err
	}
}
