# make alone lists the targets. Everything but ci's race tests works without a
# C compiler.

SHELL := /bin/bash
export CGO_ENABLED := 0

VERSION := $(shell git describe --tags --always --dirty 2>/dev/null)
LDFLAGS := -s -w -X main.version=$(VERSION)
BUILD := go build -trimpath -ldflags '$(LDFLAGS)'

# Tools have a module file of their own: users of the program never fetch them.
TOOL := go tool -modfile=tools/go.mod

.DEFAULT_GOAL := help
.PHONY: help build demo test generate verify lint race cross bench conformance ci

help: ## list the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

build: ## build bin/ocr
	$(BUILD) -o bin/ocr ./cmd/ocr

demo: build ## play a whole review and a change map in a scratch project
	scripts/demo.sh bin/ocr

test: ## run every test
	go test -shuffle=on ./...

generate: ## make the accessors in db/gen anew from the SQL
	rm -rf db/gen
	$(TOOL) sqlc generate
	go run ./scripts/dumpschema db/gen/schema.sql

verify: ## generated code is fresh, typed and committed
	scripts/verify.sh

lint: ## formatting, tidy modules, vet, staticcheck, and the rules of sqlc vet
	@test -z "$$(gofmt -l cmd db internal scripts)" || { gofmt -l cmd db internal scripts; exit 1; }
	go mod tidy -diff
	go vet ./...
	$(TOOL) staticcheck ./...
	$(TOOL) sqlc vet

# The tests in which one process does several things at once. The race detector
# sees one process only, and makes the others slow.
RACE := ^Test(AtOnce|Bind|Budget|ManyWriters|PanicBeside|ReadConsistent|ReadUpgraded|Snapshot|Sound|Write|WriteMany)$$

race: ## the tests that do things at once, with the race detector (needs a C compiler)
	@if CGO_ENABLED=1 go env CC | xargs -I{} sh -c 'command -v {}' >/dev/null; then \
		echo "go test -race -run '$(RACE)'"; CGO_ENABLED=1 go test -race -run '$(RACE)' ./db ./internal/doctor ./internal/history ./internal/journal ./internal/lifecycle; \
	else \
		echo 'SKIPPED: race tests need a C compiler and there is none here'; \
	fi

cross: ## build for every supported system
	@for os in linux darwin windows; do for arch in amd64 arm64; do \
		echo "build $$os/$$arch"; \
		GOOS=$$os GOARCH=$$arch $(BUILD) -o bin/$$os-$$arch/ocr$$([ $$os = windows ] && echo .exe) ./cmd/ocr || exit 1; \
	done; done

bench: build ## time status, sweep and doctor against the sqlite3 shell
	scripts/bench_status.py bin/ocr
	scripts/bench_sweep.py bin/ocr
	scripts/bench_doctor.py bin/ocr

conformance: build ## run the recorded cases, where CONFORMANCE_DIR is set
	scripts/conformance.sh bin/ocr

ci: ## everything a change must pass
	$(MAKE) verify
	$(MAKE) lint
	$(MAKE) race
	$(MAKE) test
	$(MAKE) demo
	$(MAKE) cross
	$(MAKE) conformance
