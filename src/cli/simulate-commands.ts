import { type Command, Option } from 'commander';
import { ECHO_CASES } from '../../models/phantom/echo/cases.ts';
import type { StudyContents } from '../../models/phantom/study-shots.ts';
import { count, port, seconds, wholeNumber } from './numbers.ts';
import { CART_STYLES } from './simulate/carts.ts';

/** By the type: the list itself is loaded with all views of the phantom, too long for any command. */
const CONTENTS: Record<StudyContents, string> = {
  biometry: 'planes of biometry',
  stills: 'stills of all views',
  complete: 'cines as well',
};

function contentsOption(): Option {
  return new Option('--contents <what>', Object.values(CONTENTS).join(', or '))
    .choices(Object.keys(CONTENTS))
    .default('biometry' satisfies StudyContents);
}

/** `simulate` with the peers of a gateway as sub-commands, and `simulate-echo`. */
export function addSimulateCommands(program: Command): void {
  const simulate = program
    .command('simulate')
    .description('write a phantom obstetric study as DICOM files, or send it')
    .option('--ga-days <number>', 'gestational age', wholeNumber, 200)
    .option('--seed <number>', 'which phantom fetus', wholeNumber, 1)
    .option('--out <dir>', 'folder for the files', './phantom-study')
    .addOption(contentsOption())
    .option('--send <node>', 'send it as well: AE@host:port')
    .action(async (options) => (await import('./simulate.ts')).simulate(options));
  simulate
    .command('cart <node>')
    .description('send a phantom exam to AE@host:port as a cart of some maker would')
    .addOption(new Option('--style <maker>', 'whose habits').choices(CART_STYLES).default('ge'))
    .option('--ga-days <number>', 'gestational age', wholeNumber, 200)
    .option('--seed <number>', 'which phantom fetus', wholeNumber, 1)
    .addOption(contentsOption())
    .option('--pause-seconds <number>', 'between two objects', seconds, 0)
    .option('--from <ae>', 'calling AE title instead of that of the style')
    .action(async (node, options) => {
      process.exitCode = await (await import('./simulate/cart.ts')).simulateCart(node, options);
    });
  simulate
    .command('pacs')
    .description('a PACS on this machine that keeps what it gets, until interrupted')
    .option('--port <number>', 'to listen on', port, 11113)
    .option('--out <dir>', 'folder for the objects', './phantom-pacs')
    .action(async (options) => (await import('./simulate/peers.ts')).simulatePacs(options));
  simulate
    .command('ehr')
    .description('an EHR on this machine that knows the phantom patients, until interrupted')
    .option('--port <number>', 'to listen on', port, 8090)
    .option('--seed <number>', 'which phantom patients', wholeNumber, 1)
    .action(async (options) => (await import('./simulate/peers.ts')).simulateEhr(options));

  program
    .command('simulate-echo')
    .description('write a phantom adult echo study as DICOM files, or handheld clips, or send it')
    .addOption(
      new Option('--heart <name>', 'which heart')
        .choices(Object.keys(ECHO_CASES))
        .default('normal'),
    )
    .option('--beats <number>', 'length of a cine', count, 1)
    .option('--seed <number>', 'which phantom patient', wholeNumber, 1)
    .option('--out <dir>', 'folder for the files', './phantom-echo')
    .option('--handheld', 'MP4 clips of the focused views, without calibration')
    .option('--send <node>', 'send it as well: AE@host:port')
    .action(async (options) => (await import('./simulate.ts')).simulateEcho(options));
}
