import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Option } from 'commander';
import { ECHO_CASES, type EchoCaseName } from '../../../models/phantom/echo/cases.ts';
import type { StudyFile } from '../../../models/phantom/study.ts';
import type { StudyContents } from '../../../models/phantom/study-shots.ts';
import type { startDemoEhr } from '../demo/ehr.ts';
import { CART_STYLES } from '../simulate/carts.ts';
import { answer } from './answer.ts';
import type { ProgramCommand } from './command.ts';
import { countSent, store } from './dicom.ts';
import { EXIT, type ExitStatus } from './exit-status.ts';
import { count, port, seconds, wholeNumber, wholeNumberFrom } from './numbers.ts';

/**
 * What each kind of phantom study contains, for the help text. The list is repeated here, because
 * importing the phantom's own list would load all its views and slow down every command. The type
 * ensures that none is missing.
 */
const CONTENTS: Record<StudyContents, string> = {
  biometry: 'biometry planes',
  stills: 'still images of all views',
  complete: 'still images and cines',
  labor: 'the transperineal plane and a sweep',
  twins: 'sweeps over two fetuses',
};

/**
 * Gestational age in days. The limits repeat `STUDY_AGES`, because importing it would load the
 * phantom.
 */
const studyAge = wholeNumberFrom(42, 294);

function contentsOption(): Option {
  const explained = Object.entries(CONTENTS).map(([name, what]) => `${name}: ${what}`);
  return new Option('--contents <what>', explained.join('; '))
    .choices(Object.keys(CONTENTS))
    .default('biometry' satisfies StudyContents);
}

/** Adds `simulate`, with a gateway's peers as subcommands, and `simulate-echo`. */
export function addSimulateCommands(program: ProgramCommand): void {
  const command = program
    .command('simulate')
    .description('write a phantom obstetric study as DICOM files, or send it')
    .option('--ga-days <number>', 'gestational age, 42 to 294', studyAge, 200)
    .option('--seed <number>', 'seed of the phantom fetus', wholeNumber, 1)
    .option('--out <dir>', 'write the files to this folder', './phantom-study')
    .addOption(contentsOption())
    .option('--send <node>', 'also send the study to AE@host:port')
    .prints(simulate);
  command
    .command('cart <node>')
    .description(
      'send a phantom study to AE@host:port as a cart would: style plain uses dcmjs-dimse, the vendor styles use our own sender',
    )
    .addOption(
      new Option('--style <maker>', 'style of cart to imitate')
        .choices(['plain', ...CART_STYLES])
        .default('plain'),
    )
    .option('--ga-days <number>', 'gestational age, 42 to 294', studyAge, 200)
    .option('--seed <number>', 'seed of the phantom fetus', wholeNumber, 1)
    .addOption(contentsOption())
    .option('--pause-seconds <number>', 'pause between two objects', seconds, 0)
    .option('--from <ae>', 'calling AE title, instead of the one of the style')
    .does(async (node, options) =>
      (await import('../simulate/cart.ts')).simulateCart(node, options),
    );
  command
    .command('pacs')
    .description(
      'run a PACS (dcmjs-dimse) that stores what it receives on this machine until interrupted',
    )
    .option('--port <number>', 'port to listen on', port, 11113)
    .option('--out <dir>', 'folder for the objects', './phantom-pacs')
    .does(simulatePacs);
  command
    .command('ehr')
    .description('run an EHR with the phantom patients on this machine until interrupted')
    .option('--port <number>', 'port to listen on', port, 8090)
    .option('--seed <number>', 'seed of the phantom patients', wholeNumber, 1)
    .does(simulateEhr);

  program
    .command('simulate-echo')
    .description('write a phantom adult echo study as DICOM files, or handheld clips, or send it')
    .addOption(
      new Option('--heart <name>', 'which phantom heart')
        .choices(Object.keys(ECHO_CASES))
        .default('normal'),
    )
    .option('--beats <number>', 'number of heartbeats in a cine', count, 1)
    .option('--seed <number>', 'seed of the phantom patient', wholeNumber, 1)
    .option('--out <dir>', 'write the files to this folder', './phantom-echo')
    .option('--handheld', 'MP4 clips of the focused views, without calibration')
    .option('--send <node>', 'also send the study to AE@host:port')
    .prints(simulateEcho);
}

/**
 * Writes the files of a study to the folder `out`, and the true values of its phantom to `<out>.truth.json`,
 * outside the folder, so that the folder can be submitted unchanged. With `send`, also sends the
 * files to that node.
 */
async function writeStudy(
  files: readonly StudyFile[],
  truth: object,
  { out, send, json }: { out: string; send?: string; json?: boolean },
): Promise<ExitStatus> {
  await mkdir(out, { recursive: true });
  const paths: string[] = [];
  for (const { name, bytes } of files) {
    const path = join(out, name);
    await writeFile(path, bytes);
    paths.push(path);
  }
  // The masks are omitted: as text, they would exceed the maximum length of a string.
  const frames = Object.fromEntries(
    files.map(({ name, truth: labels }) => [name, labels.map(({ masks: _, ...label }) => label)]),
  );
  const text = `${JSON.stringify({ ...truth, frames }, null, 2)}\n`;
  const truthFile = `${resolve(out)}.truth.json`;
  await writeFile(truthFile, text);
  const written = { files: paths, truth: truthFile };
  const report = [`${files.length} files in ${out}, ground truth in ${truthFile}`];
  if (!send) {
    answer({ json }, written, report);
    return EXIT.success;
  }
  // A program reads one document, so it is printed when everything is known.
  if (!json) answer({}, written, report);
  const { results, status } = await store(send, paths, { json });
  answer({ json }, { ...written, sent: results }, results ? [countSent(results)] : []);
  return status;
}

/**
 * Writes a phantom obstetric study as DICOM files, and the true values of its phantom. With
 * `send`, the files are also sent to that node.
 */
async function simulate(options: {
  gaDays: number;
  seed: number;
  out: string;
  contents?: StudyContents;
  send?: string;
  json?: boolean;
}): Promise<ExitStatus> {
  const { simulateObstetricStudy } = await import('../../../models/phantom/study.ts');
  const { files, truth } = await simulateObstetricStudy(options);
  return writeStudy(files, truth, options);
}

/**
 * Writes a phantom adult echo study as `simulate` does. With `handheld`, writes a few of its clips
 * as a handheld scanner exports them: MP4 without calibration.
 */
async function simulateEcho(options: {
  heart: EchoCaseName;
  beats: number;
  seed: number;
  out: string;
  handheld?: boolean;
  send?: string;
  json?: boolean;
}): Promise<ExitStatus> {
  const { echoStudy, handheldStudy } = await import('../../../models/phantom/echo/study.ts');
  const request = { seed: options.seed, of: options.heart, beats: options.beats };
  const { files, truth } = await (options.handheld ? handheldStudy : echoStudy)(request);
  return writeStudy(files, truth, options);
}

const LOOPBACK = '127.0.0.1';

/** Runs a PACS on this host until it is interrupted. It accepts all objects from every caller. */
async function simulatePacs({ port, out }: { port: number; out: string }): Promise<void> {
  const { startPacs } = await import('../simulate/pacs.ts');
  const folder = resolve(out);
  const pacs = await startPacs({
    folder,
    host: LOOPBACK,
    port,
    onObject: ({ path, callingAeTitle }) => tell(`${callingAeTitle} stored ${path}`),
    onFailure: ({ message }) => tell(`an association ended: ${message}`),
  });
  tell(`PACS@${LOOPBACK}:${pacs.port} on dcmjs-dimse, reachable from this machine only`);
  tell(`objects go to ${folder}; every AE title is accepted`);
  await interrupted();
  await pacs.close();
}

/**
 * Runs a simulated EHR on this host until it is interrupted. The EHR knows the patients of the
 * phantom studies that are drawn from `seed`, and keeps received resources only in memory.
 */
async function simulateEhr({ port, seed }: { port: number; seed: number }): Promise<void> {
  const { startDemoEhr } = await import('../demo/ehr.ts');
  const { PATIENT_ID_SYSTEM, phantomPatients, registerPatient } = await import(
    '../demo/phantom-studies.ts'
  );
  const ehr = await startDemoEhr(port);
  tell(`${ehr.baseUrl}, patient identifiers use the system ${PATIENT_ID_SYSTEM}`);
  for (const patient of phantomPatients(seed)) {
    await registerPatient(ehr.baseUrl, patient);
    tell(`knows ${patient.patientId}, ${patient.patientName}`);
  }
  const watch = watchReports(ehr);
  await interrupted();
  clearInterval(watch);
  await ehr.close();
}

const WATCH_MILLISECONDS = 500;

/** Prints which reports have arrived. It polls, because the receiver has no event for them. */
function watchReports(ehr: Awaited<ReturnType<typeof startDemoEhr>>): NodeJS.Timeout {
  const seen = new Set<string | undefined>();
  return setInterval(() => {
    for (const { id, status } of ehr.resources('DiagnosticReport')) {
      if (seen.has(id)) continue;
      seen.add(id);
      tell(`DiagnosticReport ${id} (${status}): ${ehr.baseUrl}/DiagnosticReport/${id}`);
    }
  }, WATCH_MILLISECONDS);
}

async function interrupted(): Promise<void> {
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
}

const tell = (line: string) => process.stdout.write(`${line}\n`);
