import { Command } from 'commander';
import { byPerson } from './person.ts';

/** What a command does. A number that it returns is the exit status of the program. */
type Run = (...given: Parameters<Parameters<Command['action']>[0]>) => Promise<unknown>;

/** A command of the program. `does`, `prints` or `changes` ends its definition. */
export class ProgramCommand extends Command {
  override createCommand(name?: string): ProgramCommand {
    return new ProgramCommand(name);
  }

  does(run: Run): this {
    return this.action(async (...given) => {
      const status = await run(...given);
      if (typeof status === 'number') process.exitCode = status;
    });
  }

  /** For a command that prints an answer. With `--json`, standard output is one JSON document. */
  prints(run: Run): this {
    return this.option('--json', 'as JSON').does(run);
  }

  /** For a command that changes something or shows a patient, and prints an answer. */
  changes(run: Run): this {
    return this.addOption(byPerson()).prints(run);
  }
}
