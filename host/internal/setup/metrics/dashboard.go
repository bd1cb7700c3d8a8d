package metrics

import "fmt"

// A Row is one part of a dashboard, under a title.
type Row struct {
	Title  string
	Panels []Panel
}

// A Panel draws one family of gauges.
type Panel struct {
	Title, Description, Family string
	Bool                       bool // 1 is yes, 0 no
	Texts                      bool // what counts is the label text
	Seconds                    bool
	Label                      string // there is a figure for each of its values
}

// Dashboard returns a dashboard in Grafana's form, with a choice of the
// Prometheus and of the hosts. uid is what its address ends with.
func Dashboard(uid, title string, rows []Row) map[string]any {
	panels := []any{}
	y := 0
	for _, r := range rows {
		panels = append(panels, map[string]any{
			"id": len(panels) + 1, "type": "row", "title": r.Title, "collapsed": false, "panels": []any{}, "gridPos": grid(24, 1, 0, y),
		})
		y++
		for i := range r.Panels {
			panels = append(panels, r.Panels[i].grafana(len(panels)+1, grid(panelWidth, panelHeight, i*panelWidth%24, y+i*panelWidth/24*panelHeight)))
		}
		y += (len(r.Panels)*panelWidth + 23) / 24 * panelHeight
	}
	return map[string]any{
		"uid": uid, "title": title, "tags": []string{"parley"}, "schemaVersion": 39, "editable": true, "refresh": "5m", "timezone": "browser",
		"time":        map[string]any{"from": "now-2d", "to": "now"},
		"annotations": map[string]any{"list": []any{}},
		"panels":      panels,
		"templating": map[string]any{"list": []any{
			map[string]any{"name": "source", "label": "Prometheus", "type": "datasource", "query": "prometheus"},
			map[string]any{
				"name": "instance", "label": "Host", "type": "query", "datasource": prometheusSource(), "query": "label_values(parley_telemetry_on, instance)",
				"refresh": 2, "multi": true, "includeAll": true, "allValue": ".*", "current": map[string]any{"text": "All", "value": "$__all"},
			},
		}},
	}
}

// The size of a panel, in cells of a grid that is 24 wide.
const (
	panelWidth  = 6
	panelHeight = 6
)

func grid(w, h, x, y int) map[string]any { return map[string]any{"w": w, "h": h, "x": x, "y": y} }

func prometheusSource() map[string]any {
	return map[string]any{"type": "prometheus", "uid": "${source}"}
}

func (p *Panel) grafana(id int, at map[string]any) map[string]any {
	defaults := map[string]any{"min": 0}
	if p.Seconds {
		defaults["unit"] = "s"
	}
	kind, legend := "timeseries", "{{instance}}"
	options := map[string]any{"legend": map[string]any{"displayMode": "list", "placement": "bottom", "showLegend": true}}
	if p.Label != "" {
		legend = "{{instance}} {{" + p.Label + "}}"
	}
	switch {
	case p.Texts:
		kind, legend = "stat", "{{text}}"
		options = map[string]any{"textMode": "name", "colorMode": "none", "graphMode": "none", "reduceOptions": map[string]any{"calcs": []string{"lastNotNull"}}}
	case p.Bool:
		kind = "stat"
		options = map[string]any{"colorMode": "none", "graphMode": "area", "reduceOptions": map[string]any{"calcs": []string{"lastNotNull"}}}
		defaults["mappings"] = []any{map[string]any{"type": "value", "options": map[string]any{"0": map[string]any{"text": "no"}, "1": map[string]any{"text": "yes"}}}}
	}
	return map[string]any{
		"id": id, "type": kind, "title": p.Title, "description": p.Description, "datasource": prometheusSource(), "gridPos": at,
		"fieldConfig": map[string]any{"defaults": defaults, "overrides": []any{}}, "options": options,
		"targets": []any{map[string]any{
			"refId": "A", "datasource": prometheusSource(), "expr": fmt.Sprintf("%s{instance=~\"$instance\"}", p.Family), "legendFormat": legend,
		}},
	}
}
