// What the files for Prometheus and Grafana ask: every expression of the alerts and of the dashboard.
import { YAML } from 'bun';
import { RECIPES } from '../../cli/recipes/recipes.ts';

export interface AlertRule {
  alert: string;
  expr: string;
  for?: string;
  labels: { severity: string };
  annotations: { summary: string; action: string };
}

interface Panel {
  id: number;
  title: string;
  targets?: { expr: string }[];
}

/** The text of a recipe; @throws where there is none of that name */
export function recipe(name: string): string {
  const found = RECIPES[name];
  if (found === undefined) throw new Error(`there is no recipe ${name}`);
  return found.text;
}

/** The alerts, in their order. */
export function alertRules(): AlertRule[] {
  const file = YAML.parse(recipe('alerts')) as { groups: { rules: AlertRule[] }[] };
  return file.groups.flatMap(({ rules }) => rules);
}

/** The panels of the dashboard, each with its expressions as Prometheus gets them. */
export function dashboardPanels(): { id: number; title: string; expressions: string[] }[] {
  const { panels } = JSON.parse(recipe('dashboard')) as { panels: Panel[] };
  return panels.map(({ id, title, targets = [] }) => ({
    ...{ id, title },
    expressions: targets.map(({ expr }) =>
      expr.replaceAll('$__rate_interval', '1m').replaceAll('$instance', '.*'),
    ),
  }));
}
