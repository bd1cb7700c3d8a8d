package conformance

import (
	"encoding/xml"
	"io"
)

// WriteJUnit writes the report in the XML form that CI systems read.
func (r *Report) WriteJUnit(w io.Writer) error {
	type failure struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
	type testCase struct {
		Name    string   `xml:"name,attr"`
		Class   string   `xml:"classname,attr"`
		Failure *failure `xml:"failure"`
		Skipped *failure `xml:"skipped"`
	}
	suite := struct {
		XMLName  xml.Name   `xml:"testsuite"`
		Name     string     `xml:"name,attr"`
		Tests    int        `xml:"tests,attr"`
		Failures int        `xml:"failures,attr"`
		Skipped  int        `xml:"skipped,attr"`
		Cases    []testCase `xml:"testcase"`
	}{Name: r.Name + " " + r.Version, Tests: len(r.Checks)}
	for _, c := range r.Checks {
		t := testCase{Name: c.Check, Class: r.Name}
		switch c.Result {
		case Failed:
			suite.Failures++
			t.Failure = &failure{c.Detail, c.Remedy}
		case Skipped:
			suite.Skipped++
			t.Skipped = &failure{Message: c.Detail}
		}
		suite.Cases = append(suite.Cases, t)
	}
	b, err := xml.MarshalIndent(suite, "", "  ")
	if err != nil {
		return err
	}
	_, err = w.Write(append([]byte(xml.Header), append(b, '\n')...))
	return err
}
