package conformance

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// WriteTable prints the report for people: a line a check, and below the lines
// what to do about each that failed.
func (r *Report) WriteTable(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if r.Name != "" {
		fmt.Fprintf(t, "%s %s (%s, ABI %d), %s, sha256 %s\n\n", r.Name, r.Version, r.Kind, r.ABI, size(uint64(r.Size)), r.SHA256)
	}
	for _, c := range r.Checks {
		detail := c.Detail
		switch {
		case c.SameAs != "":
			detail = "for the same reason as " + c.SameAs
		case c.Result == Failed:
			detail = "see below"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\n", c.Check, c.Result, detail)
	}
	for i, f := range r.Fuel {
		if i == 0 {
			fmt.Fprintln(t)
		}
		fmt.Fprintf(t, "fuel of %s\t%s\tp99 %s, %d calls\n", f.Export, count(f.Median), count(f.P99), f.Calls)
	}
	for _, c := range r.Checks {
		if c.Result == Failed && c.SameAs == "" {
			// What guests write may hold tabs, which are the table's own here.
			fmt.Fprintf(t, "\n%s failed: %s\n  What to do: %s\n", c.Check, strings.ReplaceAll(c.Detail, "\t", " "), c.Remedy)
		}
	}
	for i, w := range r.Warnings {
		if i == 0 {
			fmt.Fprintln(t)
		}
		fmt.Fprintf(t, "warning: %s\n", w)
	}
	if r.Against != nil {
		r.Against.write(t, r.Fuel)
	}
	return t.Flush()
}

// WriteTable prints the figures for people.
func (f *Figures) WriteTable(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "%s %s, %s\n\n", f.Name, f.Version, f.Limiter)
	fmt.Fprintf(t, "size\t%s\n", size(uint64(f.Size)))
	fmt.Fprintf(t, "compile, once\t%d ms\n", f.CompileMS)
	fmt.Fprintf(t, "start of an instance\t%s\t%s of fuel\n", duration(f.StartUS*1000), count(f.Fuel))
	fmt.Fprintf(t, "memory of an instance\t%s\n", size(f.Memory))
	for _, c := range f.Calls {
		of := ""
		if c.Call == "event" {
			of = ", of " + f.Of
		}
		fmt.Fprintf(t, "%s\t%s\t%s of fuel, p99 %s\t%d bytes in%s\n", c.Call, duration(c.NS), count(c.Fuel), count(c.P99), c.Bytes, of)
		if c.dear() {
			fmt.Fprintf(t, "warning: %s spends %d units of fuel a nanosecond, and most code at most %d: it is charged for code that it does not run, as in loops of many branches; give limits.fuelPerCall the more room\n", c.Call, c.Fuel/c.NS, mostFuel)
		}
	}
	return t.Flush()
}

// duration says nanoseconds for people.
func duration(ns int64) string {
	switch {
	case ns >= 10_000_000:
		return fmt.Sprintf("%d ms", ns/1_000_000)
	case ns >= 1_000_000:
		return fmt.Sprintf("%.1f ms", float64(ns)/1e6)
	case ns >= 100_000:
		return fmt.Sprintf("%d µs", ns/1000)
	case ns >= 1000:
		return fmt.Sprintf("%.1f µs", float64(ns)/1000)
	}
	return fmt.Sprintf("%d ns", ns)
}
