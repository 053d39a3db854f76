// The files that `crm recipe` prints, each from this folder.
import copyInPython from '../../server/openapi/copy.py.txt' with { type: 'text' };
import copy from '../../server/openapi/copy.ts.txt' with { type: 'text' };
import receiveInPython from '../../server/openapi/receive.py.txt' with { type: 'text' };
import receive from '../../server/openapi/receive.ts.txt' with { type: 'text' };
import sync from '../../server/openapi/sync.ts.txt' with { type: 'text' };
import { usageError } from '../errors.ts';
import { didYouMean } from '../nearest.ts';
import containerfile from './Containerfile' with { type: 'text' };
import logrotate from './crm.logrotate' with { type: 'text' };
import service from './crm.service' with { type: 'text' };
import alerts from './crm-alerts.yml' with { type: 'text' };
import dashboard from './crm-dashboard.json' with { type: 'json' };
import prometheus from './prometheus.yml' with { type: 'text' };

export interface Recipe {
  /** What it is for, for the list. */
  about: string;
  /** Where it is usually installed. */
  file: string;
  text: string;
}

/** Every recipe by name, in the order of the list. */
export const RECIPES: Readonly<Record<string, Recipe>> = {
  systemd: {
    about: 'Hardened systemd unit',
    file: '/etc/systemd/system/crm.service',
    text: service,
  },
  logrotate: {
    about: 'logrotate rule for crm serve --log-file',
    file: '/etc/logrotate.d/crm',
    text: logrotate,
  },
  container: {
    about: 'Container image without a shell, for Docker or Podman',
    file: 'Containerfile',
    text: containerfile,
  },
  prometheus: {
    about: 'Prometheus configuration for crm serve --metrics-port 9464',
    file: '/etc/prometheus/prometheus.yml',
    text: prometheus,
  },
  alerts: {
    about: 'Prometheus alerts for crm',
    file: '/etc/prometheus/crm-alerts.yml',
    text: alerts,
  },
  dashboard: {
    about: 'Grafana dashboard to import',
    file: 'crm-dashboard.json',
    text: `${JSON.stringify(dashboard, null, 2)}\n`,
  },
  sync: {
    about: 'TypeScript that copies the records of another system into crm',
    file: 'sync.ts',
    text: sync,
  },
  copy: {
    about: 'TypeScript that keeps a copy of all records, change by change',
    file: 'copy.ts',
    text: copy,
  },
  'copy-python': {
    about: 'Python that keeps a copy of all records, change by change',
    file: 'copy.py',
    text: copyInPython,
  },
  receive: {
    about: 'TypeScript that receives webhooks, verifies them, and handles each once',
    file: 'receive.ts',
    text: receive,
  },
  'receive-python': {
    about: 'Python that receives webhooks, verifies them, and handles each once',
    file: 'receive.py',
    text: receiveInPython,
  },
};

/** The list of recipes: a command, what it prints, and where that is installed. */
export function recipeList(): string {
  const width = Math.max(...Object.keys(RECIPES).map((name) => name.length));
  return Object.entries(RECIPES)
    .map(([name, { about, file }]) => `crm recipe ${name.padEnd(width)}  ${about} (${file})\n`)
    .join('');
}

/** The text of a recipe; a usage error lists the known ones. */
export function recipeNamed(name: string): string {
  const recipe = Object.hasOwn(RECIPES, name) ? RECIPES[name] : undefined;
  if (recipe !== undefined) return recipe.text;
  const names = Object.keys(RECIPES);
  throw usageError(
    `Unknown recipe "${name}".${didYouMean(name, names)}`,
    `choose one of: ${names.join(', ')}.`,
  );
}
