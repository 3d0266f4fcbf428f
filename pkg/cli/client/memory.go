package client

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"strconv"
	"strings"
)

// memoryMetric is how much memory the process of a server has, in bytes.
const memoryMetric = "process_resident_memory_bytes"

// Memory returns how many bytes of memory the server has, which it tells to those who may
// read its metrics.
func (c *Client) Memory(ctx context.Context) (int64, error) {
	metrics, err := c.server.Get().AbsPath("metrics").Do(ctx).Raw()
	if err != nil {
		return 0, err
	}
	for lines := bufio.NewScanner(bytes.NewReader(metrics)); lines.Scan(); {
		if value, ok := strings.CutPrefix(lines.Text(), memoryMetric+" "); ok {
			size, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			return int64(size), err
		}
	}
	return 0, errors.New("the server does not say how much memory it has")
}

// Ready returns why the server is not ready.
func (c *Client) Ready(ctx context.Context) error {
	return c.server.Get().AbsPath("readyz").Do(ctx).Error()
}
