package db

import (
	"io/fs"
	"os"
)

// noFollow has no counterpart here.
const noFollow = 0

// owner is not looked at: a new file inherits its rights from its folder.
type owner struct{}

func ownerOf(fs.FileInfo) owner { return owner{} }

func (owner) give(*os.File) (sameGroup bool, err error) { return true, nil }

func (owner) rootFor() bool { return false }
