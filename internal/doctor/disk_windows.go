package doctor

import (
	"fmt"
	"math"

	"golang.org/x/sys/windows"
)

func diskOf(dir string) (disk, error) {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return disk{}, err
	}
	var free uint64
	if err := windows.GetDiskFreeSpaceEx(name, &free, nil, nil); err != nil {
		return disk{}, fmt.Errorf("asking for the disk of %s: %w", dir, err)
	}
	return disk{free: int64(min(free, math.MaxInt64))}, nil
}
