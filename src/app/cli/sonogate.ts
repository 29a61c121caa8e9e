import { constants } from 'node:os';
import { Command, Option } from 'commander';
import { EVIDENCE_SETTINGS } from '../../../config/schema.ts';
import { DELIVERY_STATES } from '../../core/outbox/delivery.ts';
import { WEBHOOK_EVENTS } from '../../core/requests/announce.ts';
import { REQUEST_STATUS } from '../../core/requests/request.ts';
import { STUDY_STATE } from '../../core/studies/study-store.ts';
import type { DemoStudyName } from '../demo/phantom-studies.ts';
import { EXIT, explainFailure } from './exit-status.ts';
import { addInputOptions } from './input-options.ts';
import { addKeyCommands } from './keys.ts';
import { count, startOf, wholeNumber } from './numbers.ts';
import { addSimulateCommands } from './simulate.ts';

/**
 * Ends the command silently if the reader of its output has gone (`| head`), with the status of a
 * program ended by SIGPIPE; Node.js ignores that signal.
 */
function endOnClosedPipe(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit(128 + constants.signals.SIGPIPE);
  });
}

/**
 * The option of every command that prints an answer. With it, standard output is a single JSON
 * document.
 */
const asJson = () => new Option('--json', 'as JSON');

export const program = new Command('sonogate')
  .description(
    'Hospital integration gateway for ultrasound: DICOM in, measurements out as SR, FHIR and JSON.',
  )
  // Some subcommands of `simulate` have options with the same names as its own.
  .enablePositionalOptions()
  // Subcommands inherit this setting, so that an invalid argument ends with `EXIT.usage`.
  .exitOverride();

program
  .command('serve')
  .description('run the gateway (npm start)')
  .action(async () => (await import('./serve.ts')).serve());

program
  .command('demo')
  .description(
    'run the whole path once on this machine: phantom studies in, SR, SEG and FHIR reports out',
  )
  .option('--out <dir>', 'keep everything in this folder')
  .option('--review', 'review and sign each result by a script; prints what changed')
  .option('--stay', 'keep the gateway running afterwards')
  .option('--seed <number>', 'seed of the phantom patients', wholeNumber, 1)
  .addOption(
    new Option('--only <study...>', 'only these studies').choices([
      'obstetric',
      'echo',
      'first-trimester',
      'unrecognised',
    ] satisfies DemoStudyName[]),
  )
  .action(async (options) => {
    process.exitCode = await (await import('../demo/demo.ts')).demo(options);
  });

addSimulateCommands(program);
addKeyCommands(program);

program
  .command('echo <node>')
  .description('C-ECHO to a DICOM node: AE@host:port')
  .option('--from <ae>', 'our AE title')
  .addOption(asJson())
  .action(async (node, options) => {
    process.exitCode = await (await import('./dicom.ts')).echo(node, options);
  });

program
  .command('send <node> <paths...>')
  .description('C-STORE files and folders to a DICOM node: AE@host:port')
  .option('--from <ae>', 'our AE title')
  .addOption(asJson())
  .action(async (node, paths, options) => {
    process.exitCode = await (await import('./dicom.ts')).send(node, paths, options);
  });

program
  .command('find')
  .description('list the studies that an archive has, by C-FIND or QIDO-RS')
  .requiredOption('--from <archive>', 'its name in the configuration')
  .option('--patient-id <id>')
  .option('--study <uid>')
  .option('--accession-number <number>')
  .option('--study-date <range>', '20260101-20261231, 20260101- or one day')
  .option('--modality <code>')
  .option('--objects', 'list the objects of each study')
  .option('--limit <number>', 'largest number of rows', count, 100)
  .option('--json', 'as JSON, with the identity of the patient')
  .action(async (options) => (await import('./archives.ts')).find(options));

program
  .command('fetch <study>')
  .description('make the gateway retrieve a study from an archive and route it')
  .requiredOption('--from <archive>', 'its name in the configuration')
  .option('--detach', 'print the id of the retrieval and do not wait')
  .addOption(asJson())
  .action(async (study, options) => {
    process.exitCode = await (await import('./archives.ts')).fetchStudy(study, options);
  });

addInputOptions(program.command('interpret <endpoint> <paths...>'))
  .description('run a pipeline on local files, without a server: us/obstetric, us/echo')
  .option('--batch', 'read each file as a separate examination, with a folder for each')
  .addOption(
    new Option(
      '--accept <evidence>',
      'simulated: research, values validated on simulated images count too',
    ).choices(EVIDENCE_SETTINGS),
  )
  .requiredOption('--out <dir>', 'folder for result.json and the artifacts')
  .addOption(asJson())
  .action(async (endpoint, paths, options) => {
    process.exitCode = await (await import('./interpret.ts')).interpret(endpoint, paths, options);
  });

addInputOptions(program.command('submit <endpoint> <paths...>'))
  .description('upload files and submit them to a gateway (SONOGATE_URL, SONOGATE_KEY)')
  .option('--webhook <url>', 'notified when the request ends')
  .addOption(new Option('--webhook-events <event...>', 'notified of these').choices(WEBHOOK_EVENTS))
  .addOption(new Option('--priority <priority>').choices(['low', 'normal', 'high']))
  .option('--metadata <name=value...>', 'attached to the request; or one JSON object')
  .option('--idempotency-key <key>', 'a repeated command with the same key submits nothing twice')
  .option('--detach', 'print the id and do not wait')
  .addOption(asJson())
  .action(async (endpoint, paths, options) => {
    process.exitCode = await (await import('./remote.ts')).submit(endpoint, paths, options);
  });

program
  .command('watch <request>')
  .description('show the progress of a request until it ends')
  .addOption(asJson())
  .action(async (request, options) => {
    process.exitCode = await (await import('./remote.ts')).watch(request, options);
  });

program
  .command('cancel <request>')
  .description('cancel a request')
  .addOption(asJson())
  .action(async (request, options) => (await import('./remote.ts')).cancel(request, options));

program
  .command('history')
  .description('list requests, newest first')
  .option('--model <model>', 'us/obstetric')
  .addOption(new Option('--status <status>', 'only in this state').choices(REQUEST_STATUS))
  .option('--key <id>', 'only those made with this key')
  .option('--since <when>', 'only since then: 12h, 2026-01-31 or an instant', (text) =>
    startOf(text),
  )
  .option('--limit <number>', 'largest number of rows', count)
  .addOption(asJson())
  .action(async (options) => (await import('./remote.ts')).history(options));

program
  .command('download <request>')
  .description('download the result and its artifacts')
  .requiredOption('--out <dir>', 'folder for them')
  .option('--only <name...>', 'only these artifacts')
  .addOption(asJson())
  .action(async (request, options) => (await import('./remote.ts')).download(request, options));

program
  .command('explain <study>')
  .description('what happened to a study and why: its UID or our id')
  .addOption(asJson())
  .action(async (study, options) => (await import('./studies.ts')).explain(study, options));

program
  .command('doctor')
  .description('check configuration, disk, models, every PACS and EHR; changes nothing')
  .addOption(asJson())
  .action(async (options) => {
    process.exitCode = await (await import('../doctor/doctor.ts')).doctor(options);
  });

const studies = program.command('studies').description('studies received by DICOM');
studies
  .command('list')
  .description('the studies that arrived last, without identity')
  .addOption(new Option('--state <state>', 'only in this state').choices(STUDY_STATE))
  .option('--last <number>', 'number of studies', count, 100)
  .addOption(asJson())
  .action(async (options) => (await import('./studies.ts')).listStudies(options));
studies
  .command('complete <study>')
  .description('stop waiting for more objects')
  .addOption(asJson())
  .action(async (study, options) => (await import('./studies.ts')).completeStudy(study, options));
studies
  .command('release <study>')
  .description('release a study that is held, ignored or not routed')
  .option('--rule <name>', 'under this routing rule')
  .addOption(asJson())
  .action(async (study, options) => (await import('./studies.ts')).releaseStudy(study, options));
studies
  .command('rerun <study>')
  .description('interpret a study again')
  .addOption(asJson())
  .action(async (study, options) => (await import('./studies.ts')).rerunStudy(study, options));

const patients = program.command('patients').description('patients that HL7 messages merged');
patients
  .command('merges')
  .description('list the merges that count, without identity')
  .addOption(asJson())
  .action(async (options) => (await import('./patients.ts')).listMerges(options));
patients
  .command('separate <merge>')
  .description('take a merge back: its studies have their own patient ID again')
  .addOption(asJson())
  .action(async (merge, options) => (await import('./patients.ts')).separate(merge, options));

program
  .command('rules')
  .description('routing rules')
  .command('test')
  .description('what the rules would do with the studies received last; changes nothing')
  .option('--config <file>', 'rules of this file in place of those in use')
  .option('--last <number>', 'number of studies', count, 100)
  .option('--verbose', 'why each rule did or did not match')
  .addOption(asJson())
  .action(async (options) => (await import('./studies.ts')).testRules(options));

program
  .command('deliveries')
  .description('deliveries to PACS, EHR and webhooks: their state and why')
  .option('--destination <name>', 'only to this destination')
  .addOption(new Option('--state <state>', 'only in this state').choices(DELIVERY_STATES))
  .option('--code <code>', 'only with this code of the last failure (docs/errors.md)')
  .option('--request <id>', 'only of this request')
  .option('--last <number>', 'so many', count, 100)
  .addOption(asJson())
  .action(async (options) => (await import('./deliveries.ts')).listDeliveries(options));

program
  .command('replay [delivery]')
  .description('send dead deliveries again; without an id or destination, list the deliveries')
  .option('--destination <name>', 'all dead deliveries to this destination')
  .option(
    '--to-alternate',
    'to the alternate of its destination; with --destination also what is waiting',
  )
  .option('--to <name>', 'to this other destination')
  .addOption(asJson())
  .action(async (delivery, options) => (await import('./deliveries.ts')).replay(delivery, options));

program
  .command('acknowledge <request>')
  .description('record who has seen the critical flags of a request')
  .option('--by <name>', 'who has seen them')
  .addOption(asJson())
  .action(async (request, options) =>
    (await import('./acknowledge.ts')).acknowledge(request, options),
  );

const hold = program.command('hold').description('reports to an EHR that wait for a person');
hold
  .command('list')
  .description('list them with the reason and the candidates; without identity')
  .addOption(asJson())
  .action(async (options) => (await import('./hold.ts')).listHeld(options));
hold
  .command('show <id>')
  .description('show one with the identity of its images; who looked is audited')
  .option('--by <name>', 'who looks')
  .addOption(asJson())
  .action(async (id, options) => (await import('./hold.ts')).showHeld(id, options));
hold
  .command('release <id>')
  .description('send it, to a chosen patient, with a chosen order, or as it is')
  .option('--patient <reference>', 'Patient/<id> of the EHR')
  .option('--order <reference>', 'ServiceRequest/<id> of the EHR')
  .option('--no-order', 'with the accession number alone')
  .option('--by <name>', 'who decides')
  .addOption(asJson())
  .action(async (id, options) => (await import('./hold.ts')).releaseHeld(id, options));
hold
  .command('reject <id>')
  .description('reject it for good: it is not sent')
  .requiredOption('--reason <text>', 'why')
  .option('--by <name>', 'who decides')
  .addOption(asJson())
  .action(async (id, options) => (await import('./hold.ts')).rejectHeld(id, options));

const quarantine = program
  .command('quarantine')
  .description('received objects that could not be recorded');
quarantine
  .command('list')
  .description('list them with sender and reason; without identity')
  .addOption(asJson())
  .action(async (options) => (await import('./quarantine.ts')).listQuarantine(options));
quarantine
  .command('register <id>')
  .description('register one as if it arrived now, once its cause is mended')
  .addOption(asJson())
  .action(async (id, options) => (await import('./quarantine.ts')).registerAgain(id, options));
quarantine
  .command('remove <id>')
  .description('delete one for good')
  .addOption(asJson())
  .action(async (id, options) =>
    (await import('./quarantine.ts')).removeFromQuarantine(id, options),
  );

program
  .command('clean')
  .description('remove received studies older than retention.intakeDays')
  .option('--dry-run', 'say what would be removed, and what stays and why')
  .addOption(asJson())
  .action(async (options) => (await import('./maintenance.ts')).clean(options));

program
  .command('migrate-embedded')
  .description('copy the embedded database to the empty PostgreSQL server of DATABASE_URL')
  .addOption(asJson())
  .action(async (options) => (await import('./maintenance.ts')).migrateEmbedded(options));

const audit = program.command('audit').description('the audit, sealed row by row');
audit
  .command('verify')
  .description('find rows that were altered, removed or inserted')
  .option('--public-key <files...>', 'public keys of other machines that sealed it')
  .addOption(asJson())
  .action(async (options) => {
    process.exitCode = await (await import('./maintenance.ts')).verifyAudit(options);
  });
audit
  .command('export')
  .description('write it to standard output, one event on each line')
  .addOption(new Option('--format <name>').choices(['dicom', 'fhir', 'jsonl']).default('jsonl'))
  .action(async (options) => (await import('./maintenance.ts')).exportAudit(options));

program
  .command('check-vectors <file>')
  .description('check the formulas against test vectors')
  .addOption(asJson())
  .action(async (file, options) => {
    process.exitCode = await (await import('./check-vectors.ts')).checkVectorsCommand(
      file,
      options,
    );
  });

program
  .command('validate <files...>')
  .description('check structured reports, segmentations and FHIR bundles against our own rules')
  .addOption(asJson())
  .action(async (files, options) => {
    process.exitCode = await (await import('./validate.ts')).validate(files, options);
  });

program
  .command('docs')
  .description('write the generated pages of docs/')
  .action(async () => (await import('./docs.ts')).writeDocs());

/** Runs one command line. The exit status is in `process.exitCode`. */
export async function runCommandLine(given: readonly string[]): Promise<void> {
  try {
    await program.parseAsync(given, { from: 'user' });
  } catch (error) {
    const { status, line } = explainFailure(error);
    if (status === EXIT.unexpected && process.env.SONOGATE_LOG_LEVEL === 'debug') throw error;
    if (line !== null) process.stderr.write(`${line}\n`);
    process.exitCode = status;
  }
}

if (import.meta.main) {
  endOnClosedPipe();
  await runCommandLine(process.argv.slice(2));
}
