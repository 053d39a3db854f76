// What an operator may want to have as a file, each as it is in this folder.
import service from './crm.service' with { type: 'text' };

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
};
