package main

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/sdk/guard"
	"github.com/parley-search/parley/sdk/plugintest"
)

const said = `{"topics": "Merger\nlay off*\nAusländer\n收购\nC++\nstrike  fund", "message": "Ask the press office."}`

// TestMeasured counts what comes up of the topics in texts with and without them.
func TestMeasured(t *testing.T) {
	d := plugintest.NewGuard(t, &topics{}, "manifest.json")
	d.SetOptions(said)
	var score plugintest.Score
	for text, want := range map[string]bool{
		"When is the merger?": true, "MERGER!": true, "the submerger": false, "mergers": false, "emerge, merge": false,
		"They lay off people.": true, "laying off": false, "lay\u00a0off": true, "lay  offs": true, "layoff": false,
		"Die ausländer kommen": true, "AUSLÄNDER": true, "Ausländerin": false, "关于收购的事": true, "收 购": false,
		"I write C++ here": true, "C#": false, "the strike fund is empty": true, "strike a fund": false, "": false,
		"m e r g e r": false, "(merger)": true, "merger_plan": false, "the Merger's end": true, "fusion": false,
	} {
		for _, stage := range []guard.Stage{guard.Question, guard.Answer} {
			var got plugintest.Passed
			if stage == guard.Question {
				got = d.Whole(stage, plugintest.User(text))
			} else {
				got = d.Cuts(stage, "So: "+text+" And more.", 50)
			}
			if (got.How == abi.BlockRefusal) != want || want && got.Blocked != "Ask the press office." {
				t.Errorf("%q at %s: got %+v, want it refused: %v", text, abi.Stages[stage-1], got, want)
			}
			switch blocked := got.How != 0; {
			case blocked && want:
				score.Right++
			case blocked:
				score.False++
			case want:
				score.Missed++
			}
		}
	}
	plugintest.HoldTable(t, "README.md", "| texts | with a topic | precision | recall |\n|---|---|---|---|\n"+score.Row("50, questions and answers"))
	if got := d.Cuts(guard.Answer, "Before it. Merger after", 100); got.Text() != "Before it. " {
		t.Errorf("seen before the refusal: got %q, want what is in front of the word", got.Text())
	}
}

// TestEarlierQuestion: what was refused once does not end the conversation for good.
func TestEarlierQuestion(t *testing.T) {
	d := plugintest.NewGuard(t, &topics{}, "manifest.json")
	d.SetOptions(said)
	asked := []guard.Item{plugintest.User("The merger?"), plugintest.Assistant("Ask the press office."), plugintest.User("The weather?")}
	if got := d.Whole(guard.Question, asked...); got.How != 0 {
		t.Errorf("a question behind one that was refused: got %+v, want it to pass", got)
	}
	if got := d.Whole(guard.Question, append(asked, plugintest.Assistant("Sunny."), plugintest.User("And the merger?"))...); got.Item != 4 {
		t.Errorf("the topic once more: got %+v, want item 4 refused", got)
	}
}

func TestOptions(t *testing.T) {
	d := plugintest.NewGuard(t, &topics{}, filepath.Join(".", "manifest.json"))
	for _, line := range []string{"a.b", "(x)", "what?", "[ab]", `\d`, "ß", "*", "a|b", "$5"} {
		d.SetOptions(fmt.Sprintf(`{"topics": %q}`, line))
		if line != "*" {
			if got := d.Whole(guard.Question, plugintest.User("Is it "+line+" or not")); got.How == 0 {
				t.Errorf("topic %q in its own words: got no refusal", line)
			}
		}
	}
}
