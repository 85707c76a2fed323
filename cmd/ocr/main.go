// Command ocr keeps the state of AI code reviews in one SQLite file.
package main

import (
	"context"
	"os"
	"os/signal"
	"slices"
	"syscall"
)

func main() {
	os.Exit(start())
}

func start() int {
	ctx, stop := signal.NotifyContext(context.Background(), stopSignals()...)
	defer stop()
	// The first signal asks for an orderly end, the second one gets it at once.
	context.AfterFunc(ctx, stop)
	a := &app{
		stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, getenv: os.Getenv, dir: ".",
		runProgram: replaceProcess, parent: os.Getppid(),
	}
	return a.run(ctx, os.Args[1:])
}

// stopSignals are the signals that ask for an end, without those that the
// caller has switched off, as nohup does.
func stopSignals() []os.Signal {
	return slices.DeleteFunc([]os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}, signal.Ignored)
}
