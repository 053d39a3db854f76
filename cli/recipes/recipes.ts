// What an operator may want to have as a file, each as it is in this folder.

import containerfile from './Containerfile' with { type: 'text' };
import logrotate from './crm.logrotate' with { type: 'text' };
import service from './crm.service' with { type: 'text' };
import alerts from './crm-alerts.yml' with { type: 'text' };
import dashboard from './crm-dashboard.json' with { type: 'json' };
import prometheus from './prometheus.yml' with { type: 'text' };

export interface Recipe {
  /** What it is for, in a line of a list. */
  about: string;
  /** Where it usually lies. */
  file: string;
  text: string;
}

/** Every recipe by its name, in the order of the list. */
export const RECIPES: Readonly<Record<string, Recipe>> = {
  systemd: {
    about: 'a unit of systemd, hardened',
    file: '/etc/systemd/system/crm.service',
    text: service,
  },
  logrotate: {
    about: 'a rule of logrotate for crm serve --log-file',
    file: '/etc/logrotate.d/crm',
    text: logrotate,
  },
  container: {
    about: 'an image without a shell, for Docker or Podman',
    file: 'Containerfile',
    text: containerfile,
  },
  prometheus: {
    about: 'a configuration of Prometheus that reads crm serve --metrics-port 9464',
    file: '/etc/prometheus/prometheus.yml',
    text: prometheus,
  },
  alerts: {
    about: 'alerts about crm, for Prometheus',
    file: '/etc/prometheus/crm-alerts.yml',
    text: alerts,
  },
  dashboard: {
    about: 'a dashboard of Grafana, to be imported',
    file: 'crm-dashboard.json',
    text: `${JSON.stringify(dashboard, null, 2)}\n`,
  },
};
