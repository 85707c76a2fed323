package db

import (
	"context"
	"database/sql"
	"errors"
	"slices"
)

// Status is where a database stands among the schema steps.
type Status struct {
	// Version is the last step in the file; Latest the last that this program
	// knows.
	Version, Latest int
	// Migrations is the version in schema_migrations, 0 where there is none;
	// Shared is the highest in schema_version.
	Migrations, Shared int
	// Applied are the steps in the ledgers that this program knows, Pending
	// the others that it knows.
	Applied, Pending []Step
	// Unknown are recorded versions of other or later programs.
	Unknown []int
	// Problem says why nothing can upgrade the file; nil when something can,
	// and when nothing has to.
	Problem *Error
	// MainBytes, LogBytes and IndexBytes are the sizes of the file, its
	// write-ahead log and the index of that; FreeBytes is the part of the
	// pages that holds nothing.
	MainBytes, LogBytes, IndexBytes, FreeBytes int64
}

// ReadStatus tells it of the file at path, whatever its version and its marks.
// It changes nothing.
func ReadStatus(ctx context.Context, path string) (Status, error) {
	o := newOpener(path, Options{})
	path = o.path
	steps, err := Steps()
	if err != nil {
		return Status{}, err
	}
	h, err := readHistory(ctx, o.steps)
	if err != nil {
		return Status{}, err
	}
	var s Status
	err = viewConn(ctx, path, func(ctx context.Context, conn *sql.Conn) error {
		s = Status{Latest: Latest()}
		err := inReadTransaction(func(ctx context.Context, conn *sql.Conn) error {
			return s.read(ctx, conn, path, steps)
		})(ctx, conn)
		if err == nil {
			err = o.checkShape(ctx, conn, h)
		}
		switch KindOf(err) {
		case KindHalfUpgraded, KindOutOfOrder, KindDirty, KindInTheWay:
			errors.As(err, &s.Problem)
			return nil
		}
		return err
	})
	if err != nil {
		return s, err
	}
	found, err := lookAt(path)
	if err != nil {
		return s, err
	}
	s.MainBytes = found.main.Size()
	if found.wal != nil {
		s.LogBytes = found.wal.Size()
	}
	if found.shm != nil {
		s.IndexBytes = found.shm.Size()
	}
	return s, nil
}

// read reads the ledgers. Its error may be what is wrong with them; they are
// told all the same.
func (s *Status) read(ctx context.Context, conn *sql.Conn, path string, steps []Step) error {
	now, problem := inspect(ctx, conn, path, embedded)
	if problem != nil && KindOf(problem) != KindHalfUpgraded && KindOf(problem) != KindOutOfOrder && KindOf(problem) != KindDirty {
		return problem
	}
	s.Version, s.Migrations, s.Shared = now.version(), now.migrations, now.shared
	r := &Reader{conn: conn}
	sizes, err := r.Sizes(ctx, false)
	if err != nil {
		return err
	}
	s.FreeBytes = sizes.FreeBytes()
	recorded, err := recordedSteps(ctx, conn)
	if err != nil {
		return err
	}
	for _, step := range steps {
		own := step.Version > SharedLatest && step.Version <= now.migrations
		if own || step.Version <= SharedLatest && slices.Contains(recorded, step.Version) {
			s.Applied = append(s.Applied, step)
		} else {
			s.Pending = append(s.Pending, step)
		}
	}
	for _, version := range recorded {
		if version < 1 || version > SharedLatest {
			s.Unknown = append(s.Unknown, version)
		}
	}
	if now.migrations > s.Latest {
		s.Unknown = append(s.Unknown, now.migrations)
	}
	return problem
}

// recordedSteps are the versions in schema_version, if there is one.
func recordedSteps(ctx context.Context, conn *sql.Conn) (list []int, err error) {
	var tables int
	err = conn.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'schema_version'").Scan(&tables)
	if err != nil || tables == 0 {
		return nil, err
	}
	rows, err := conn.QueryContext(ctx, "SELECT DISTINCT CAST(version AS INTEGER) FROM schema_version ORDER BY 1")
	if err != nil {
		return nil, err
	}
	defer func() { err = join(err, rows.Close()) }()
	for rows.Next() {
		var version int
		if err := rows.Scan(&version); err != nil {
			return nil, err
		}
		list = append(list, version)
	}
	return list, rows.Err()
}
