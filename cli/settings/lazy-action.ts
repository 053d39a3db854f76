// The action of a command: loads what the command does, and runs it with the settings.
import type { Command } from 'commander';
import { type Config, type GlobalOptions, resolveConfig } from './config.ts';

/**
 * An action whose work is loaded when it runs. The work gets what commander gives an action, with the settings instead of
 * the command: arguments, flags, settings.
 */
export function lazyAction<Given extends unknown[]>(
  load: () => Promise<(...given: [...Given, Config]) => Promise<void>>,
): (...given: [...Given, Command]) => Promise<void> {
  return async (...given) => {
    const work = await load();
    await work(...(given.slice(0, -1) as Given), resolveConfig(given.at(-1) as Command));
  };
}

/** The same for a command that works on profiles: it also gets the global options, and no profile is in force. */
export function profileAction(load: () => Promise<Action>): (...words: unknown[]) => Promise<void> {
  return async (...words) => {
    const work = await load();
    const command = words.at(-1) as Command;
    const options: GlobalOptions = command.optsWithGlobals();
    const given = [...words.slice(0, -1), resolveConfig(command, {}), options];
    await work(...(given as never[]));
  };
}

type Action = (...given: never[]) => Promise<void>;

/** An action that is one of two, by whether an option is given. */
export function actionByOption(
  option: string,
  given: Action,
  otherwise: Action,
): (...words: unknown[]) => Promise<void> {
  return (...words) => {
    const isGiven = (words.at(-1) as Command).getOptionValue(option) !== undefined;
    return (isGiven ? given : otherwise)(...(words as never[]));
  };
}
