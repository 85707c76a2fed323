package db

import (
	"context"
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ocr/db/gen"
)

// statements returns the generated SQL by the name of its query.
func statements(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	files, err := filepath.Glob("gen/*.sql.go")
	must(t, err)
	for _, file := range files {
		tree, err := parser.ParseFile(gotoken.NewFileSet(), file, nil, 0)
		must(t, err)
		for _, object := range tree.Decls {
			constant, ok := object.(*ast.GenDecl)
			if !ok || constant.Tok != gotoken.CONST {
				continue
			}
			for _, spec := range constant.Specs {
				value := spec.(*ast.ValueSpec)
				text, err := strconv.Unquote(value.Values[0].(*ast.BasicLit).Value)
				must(t, err)
				found[value.Names[0].Name] = text
			}
		}
	}
	if len(found) < 25 {
		t.Fatalf("only %d statements in %d files of db/gen", len(found), len(files))
	}
	return found
}

// TestStatementsPrepare has the engine compile every generated statement.
func TestStatementsPrepare(t *testing.T) {
	p, _ := promptOn(t, fresh(t))
	for name, text := range statements(t) {
		if !strings.HasPrefix(text, "-- name: "+name+" :") {
			t.Errorf("%s is not what its text says: %q", name, text)
		}
		statement, err := p.conn.PrepareContext(context.Background(), text)
		if err != nil {
			t.Errorf("%s: %v\n%s", name, err, text)
			continue
		}
		must(t, statement.Close())
	}
}

// TestStatementsMatchQueries finds every query in the generated code and the
// other way round.
func TestStatementsMatchQueries(t *testing.T) {
	generated := statements(t)
	files, err := filepath.Glob("queries/*.sql")
	must(t, err)
	count := 0
	for _, file := range files {
		for _, block := range queryBlocks(t, file) {
			count++
			name := strings.Fields(block.header)[2]
			if text := generated[name]; text == "" || strings.Contains(text, "sqlc.") {
				t.Errorf("%s: %s was generated as %q", file, name, text)
			}
			delete(generated, name)
		}
	}
	if count < 25 || len(generated) > 0 {
		t.Errorf("%d queries; generated without a query: %v", count, generated)
	}
}

// TestWritesAreCounted holds every statement that writes to telling how many
// rows it changed, and every caller to looking at that.
func TestWritesAreCounted(t *testing.T) {
	files, err := filepath.Glob("queries/*.sql")
	must(t, err)
	counted := map[string]bool{}
	for _, file := range files {
		for _, block := range queryBlocks(t, file) {
			name, kind := strings.Fields(block.header)[2], strings.Fields(block.header)[3]
			text := strings.Join(block.lines, "\n")
			writes := !strings.HasPrefix(text, "SELECT") && !strings.HasPrefix(text, "WITH")
			if writes && kind != ":execrows" && !strings.Contains(text, "RETURNING") {
				t.Errorf("%s: %s is %s: make it :execrows, and hold it to its rows with db.ExpectRows", file, name, kind)
			}
			counted[name] = kind == ":execrows"
		}
	}
	sources, err := filepath.Glob("../internal/*/*.go")
	must(t, err)
	calls := 0
	for _, file := range sources {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		tree, err := parser.ParseFile(gotoken.NewFileSet(), file, nil, 0)
		must(t, err)
		ast.Inspect(tree, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if ok && counted[calledName(call)] {
				calls++
			}
			assigned, ok := n.(*ast.AssignStmt)
			if !ok || len(assigned.Rhs) != 1 || len(assigned.Lhs) != 2 {
				return true
			}
			call, ok = assigned.Rhs[0].(*ast.CallExpr)
			if ok && counted[calledName(call)] && isBlank(assigned.Lhs[0]) {
				t.Errorf("%s: what %s changed is not looked at: use db.ExpectRows", file, calledName(call))
			}
			return true
		})
	}
	if calls < 20 {
		t.Errorf("only %d calls of statements that write were found", calls)
	}
}

func isBlank(target ast.Expr) bool {
	name, ok := target.(*ast.Ident)
	return ok && name.Name == "_"
}

// calledName is the name of the method that is called.
func calledName(call *ast.CallExpr) string {
	if method, ok := call.Fun.(*ast.SelectorExpr); ok {
		return method.Sel.Name
	}
	return ""
}

// TestLeaseAttempts counts the takeovers of the current round, whatever else
// stands in the metadata of other events.
func TestLeaseAttempts(t *testing.T) {
	p := newPrompt(t)
	p.session(t, "r", "review")
	p.session(t, "m", "map")
	leases := func(id string, want int64) {
		t.Helper()
		got, err := gen.New(p.conn).LeaseAttempts(context.Background(), id)
		must(t, err)
		if got != want {
			t.Errorf("%s: %d leases, want %d", id, got, want)
		}
	}
	lease := func(id, metadata string) {
		t.Helper()
		p.do(t, "INSERT INTO orchestration_events (session_id, event_type, metadata) VALUES ('"+id+"', 'session_resumed', "+metadata+")")
	}
	leases("r", 0)
	leases("nobody", 0)
	lease("r", `'{"kind":"forward_resume","round":1}'`)
	leases("r", 1)
	for _, odd := range []string{"'{'", "''", "NULL", "'[]'", "x'00'", `'{"round":1}'`, `'{"kind":"forward_resume","round":2}'`, `'{"kind":"forward_resume"}'`} {
		lease("r", odd)
	}
	leases("r", 1)
	lease("r", `'{"round":1,"kind":"forward_resume","by":"x"}'`)
	leases("r", 2)
	p.event(t, "r", "round_started", "context", 1, 2, "NULL")
	leases("r", 1)
	lease("m", `'{"kind":"forward_resume","round":1}'`)
	leases("m", 1)
	p.completeMap(t, "m", 1)
	p.move(t, "m", "map-context", 1, 1)
	leases("m", 0)
	lease("m", `'{"kind":"forward_resume","round":1}'`)
	leases("m", 1)
}

// queryBlock is one named query of a file in db/queries.
type queryBlock struct {
	header string
	doc    []string
	lines  []string
}

func queryBlocks(t *testing.T, file string) (blocks []queryBlock) {
	t.Helper()
	for _, line := range fileLines(t, file) {
		switch {
		case strings.HasPrefix(line, "-- name: "):
			blocks = append(blocks, queryBlock{header: line})
		case len(blocks) == 0 || line == "":
		case strings.HasPrefix(line, "--") && len(blocks[len(blocks)-1].lines) == 0:
			blocks[len(blocks)-1].doc = append(blocks[len(blocks)-1].doc, line)
		default:
			blocks[len(blocks)-1].lines = append(blocks[len(blocks)-1].lines, line)
		}
	}
	if slices.ContainsFunc(blocks, func(b queryBlock) bool { return len(b.lines) == 0 }) || len(blocks) == 0 {
		t.Fatalf("%s holds a name without a query", file)
	}
	return blocks
}
