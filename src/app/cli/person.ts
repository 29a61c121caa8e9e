import { userInfo } from 'node:os';
import { InvalidArgumentError, Option } from 'commander';

const LONGEST_NAME = 100;

/**
 * The option `--by` of every command that changes something or shows a patient. The program itself
 * accepts it too, so that a script that runs commands beside a service can pass it with every
 * command (docs/operations.md).
 */
export const byPerson = () =>
  new Option(
    '--by <name>',
    'person who runs the command, for the audit trail (default: the account)',
  ).argParser((text: string) => {
    const name = text.trim();
    if (name !== '' && name.length <= LONGEST_NAME) return name;
    throw new InvalidArgumentError(`Expected a name of at most ${LONGEST_NAME} characters.`);
  });

/**
 * Returns who runs a command, for the audit trail: the name given with `--by`, or the account of
 * the operating system. In a container, the account may have a number and no name.
 */
export function personOf(
  by?: string,
  account: () => { username: string } = () => userInfo(),
): string {
  if (by !== undefined) return by;
  try {
    return account().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}

let person: string | null = null;

/** Sets who runs the command of this process. */
export function actAs(by: string | undefined): void {
  person = personOf(by);
}

/** Returns who runs the command of this process. */
export const currentPerson = (): string => person ?? personOf();
