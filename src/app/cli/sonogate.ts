import { constants } from 'node:os';
import { Option } from 'commander';
import { EVIDENCE_SETTINGS } from '../../../config/schema.ts';
import { WITHDRAWAL_REASON_CODES } from '../../../pipelines/contract/withdrawal.ts';
import { DELIVERY_STATES } from '../../core/outbox/delivery.ts';
import { MERGE_DECISIONS } from '../../core/patients/merges.ts';
import { WEBHOOK_EVENTS } from '../../core/requests/announce.ts';
import { REQUEST_STATUS } from '../../core/requests/request.ts';
import { STUDY_STATE } from '../../core/studies/study-store.ts';
import { COMMIT, VERSION } from '../../platform/version.ts';
import type { DemoStudyName } from '../demo/phantom-studies.ts';
import { ProgramCommand } from './command.ts';
import { EXIT, explainFailure } from './exit-status.ts';
import { addInputOptions } from './input-options.ts';
import { addKeyCommands } from './keys.ts';
import { count, measuredValue, startOf, wholeNumber } from './numbers.ts';
import { actAs, byPerson } from './person.ts';
import { addSimulateCommands } from './simulate.ts';

/**
 * Ends the command silently if nobody reads its output any more, as with `| head`. The exit status
 * is that of a program ended by SIGPIPE, a signal that Node.js ignores.
 */
function endOnClosedPipe(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit(128 + constants.signals.SIGPIPE);
  });
}

/** The options of a command that connects to a DICOM node over TLS. */
const addTlsOptions = (command: ProgramCommand): ProgramCommand =>
  command
    .option('--tls', 'use TLS, also with each of the options that follow')
    .option('--ca-file <file>', "authority of the node's certificate, unless it is public (PEM)")
    .option('--cert-file <file>', 'our certificate, if the node requests one (PEM)')
    .option('--key-file <file>', 'key of our certificate (PEM)')
    .option('--server-name <name>', "name in the node's certificate, if it differs from the host");

export const program = new ProgramCommand('sonogate')
  .description(
    'Hospital integration gateway for ultrasound: DICOM in, measurements out as SR, FHIR and JSON.',
  )
  // `simulate` and some of its subcommands have options with the same names. With positional
  // options, an option belongs to the command that it follows.
  .enablePositionalOptions()
  .version(
    COMMIT === null ? `${VERSION}, commit unknown` : `${VERSION}, commit ${COMMIT}`,
    '--version',
    'print the version and the commit from which the program was installed',
  )
  .addOption(byPerson())
  .hook('preAction', (all, command) => actAs(command.opts().by ?? all.opts().by))
  // Subcommands inherit this setting, so that an invalid argument ends with `EXIT.usage`.
  .exitOverride();

program
  .command('serve')
  .description('run the gateway (npm start)')
  .does(async () => (await import('./serve.ts')).serve());

program
  .command('demo')
  .description(
    'run the whole workflow once on this machine: phantom studies in, SR, SEG and FHIR reports out',
  )
  .option('--out <dir>', 'keep everything in this folder')
  .option('--review', 'review and sign each result with a script; print what changed')
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
  .does(async (options) => (await import('../demo/demo.ts')).demo(options));

addSimulateCommands(program);
addKeyCommands(program);

addTlsOptions(program.command('echo <node>'))
  .description('C-ECHO to a DICOM node: AE@host:port')
  .option('--from <ae>', 'calling AE title (default: SONOGATE-CLI)')
  .prints(async (node, options) => (await import('./dicom.ts')).echo(node, options));

addTlsOptions(program.command('send <node> <paths...>'))
  .description('C-STORE files and folders to a DICOM node: AE@host:port')
  .option('--from <ae>', 'calling AE title (default: SONOGATE-CLI)')
  .prints(async (node, paths, options) => (await import('./dicom.ts')).send(node, paths, options));

program
  .command('find')
  .description('search an archive for studies (C-FIND or QIDO-RS)')
  .requiredOption('--from <archive>', 'name of the archive in the configuration')
  .option('--patient-id <id>', 'only studies of this patient')
  .option('--study <uid>', 'only the study with this Study Instance UID')
  .option('--accession-number <number>', 'only studies of this order')
  .option('--study-date <range>', '20260101-20261231, 20260101- or a single date')
  .option('--modality <code>', 'only studies with this modality, such as US')
  .option('--objects', 'list the objects of each study')
  .option('--limit <number>', 'maximum number of rows', count, 100)
  .addOption(byPerson())
  .option('--json', 'as JSON, including the identity of each patient')
  .does(async (options) => (await import('./archives.ts')).find(options));

program
  .command('fetch <study>')
  .description('have the gateway retrieve a study from an archive and route it')
  .requiredOption('--from <archive>', 'name of the archive in the configuration')
  .option('--detach', 'print the id of the retrieval without waiting for it')
  .changes(async (study, options) => (await import('./archives.ts')).fetchStudy(study, options));

addInputOptions(program.command('interpret <endpoint> <paths...>'))
  .description('run a pipeline on local files, without a server: us/obstetric, us/echo')
  .option('--batch', 'treat each file as a separate examination with its own folder')
  .addOption(
    new Option(
      '--accept <evidence>',
      'simulated: for research, also accept values validated only on simulated images',
    ).choices(EVIDENCE_SETTINGS),
  )
  .requiredOption('--out <dir>', 'folder for result.json and the artifacts')
  .prints(async (endpoint, paths, options) =>
    (await import('./interpret.ts')).interpret(endpoint, paths, options),
  );

addInputOptions(program.command('submit <endpoint> <paths...>'))
  .description('upload files and submit them to a gateway (SONOGATE_URL, SONOGATE_KEY)')
  .option('--webhook <url>', 'URL to notify when the request ends')
  .addOption(
    new Option('--webhook-events <event...>', 'events to notify of').choices(WEBHOOK_EVENTS),
  )
  .addOption(
    new Option('--priority <priority>', 'place in the queue').choices(['low', 'normal', 'high']),
  )
  .option('--metadata <name=value...>', 'metadata to attach to the request, or one JSON object')
  .option(
    '--idempotency-key <key>',
    'repeating the command with the same key does not submit the request again',
  )
  .option('--detach', 'print the id of the request without waiting for it')
  .prints(async (endpoint, paths, options) =>
    (await import('./remote.ts')).submit(endpoint, paths, options),
  );

program
  .command('watch <request>')
  .description('show the progress of a request until it ends')
  .prints(async (request, options) => (await import('./remote.ts')).watch(request, options));

program
  .command('cancel <request>')
  .description('cancel a request')
  .prints(async (request, options) => (await import('./remote.ts')).cancel(request, options));

const review = program
  .command('review')
  .description('check, correct and sign a draft in the name of the key in SONOGATE_KEY');
const amend = () =>
  new Option('--amend', 'change a result that was signed; it is then signed again');
review
  .command('show <request>')
  .description('show the values with their ids, the impression, the changes and who has signed')
  .prints(async (request, options) => (await import('./review.ts')).showReview(request, options));
review
  .command('accept <request> <measurement>')
  .description('accept a value as it was measured')
  .addOption(amend())
  .prints(async (request, measurement, options) => {
    const change = { kind: 'accept', measurement } as const;
    await (await import('./review.ts')).changeReview(request, change, options);
  });
review
  .command('reject <request> <measurement>')
  .description('reject a value; nothing uses it any more')
  .option('--reason <text>', 'why, without names, identifiers and dates')
  .addOption(amend())
  .prints(async (request, measurement, { reason, ...options }) => {
    const change = { kind: 'reject', measurement, ...(reason && { reason }) } as const;
    await (await import('./review.ts')).changeReview(request, change, options);
  });
review
  .command('set <request> <measurement>')
  .description('enter another value')
  .requiredOption('--value <number>', 'the value, in the unit of the measurement', measuredValue)
  .addOption(amend())
  .prints(async (request, measurement, { value, ...options }) => {
    const change = { kind: 'set-value', measurement, value } as const;
    await (await import('./review.ts')).changeReview(request, change, options);
  });
review
  .command('undo <request> <change>')
  .description('undo a change, by its number')
  .addOption(amend())
  .prints(async (request, number, options) => {
    const change = { kind: 'undo', change: count(number) } as const;
    await (await import('./review.ts')).changeReview(request, change, options);
  });
review
  .command('sign <request>')
  .description('sign the result, which makes it final and sends it to the receivers of the draft')
  .requiredOption('--revision <number>', 'the revision that you have read', wholeNumber)
  .option('--statement <text>', 'a remark to the signature')
  .prints(async (request, options) => (await import('./review.ts')).signReview(request, options));

program
  .command('history')
  .description('list requests, newest first')
  .option('--model <model>', 'only those of this model or endpoint, such as us/obstetric')
  .addOption(new Option('--status <status>', 'only those in this state').choices(REQUEST_STATUS))
  .option('--key <id>', 'only those made with this key')
  .option(
    '--since <when>',
    'only those made since: a period (12h), a date (2026-01-31) or a date and time',
    (text) => startOf(text),
  )
  .option('--limit <number>', 'maximum number of rows', count)
  .prints(async (options) => (await import('./remote.ts')).history(options));

program
  .command('download <request>')
  .description('download the result and the artifacts of a request')
  .requiredOption('--out <dir>', 'write the files to this folder')
  .option('--only <name...>', 'only these artifacts')
  .prints(async (request, options) => (await import('./remote.ts')).download(request, options));

program
  .command('explain <study>')
  .description('show what happened to a study and why (Study Instance UID or gateway id)')
  .prints(async (study, options) => (await import('./studies.ts')).explain(study, options));

program
  .command('doctor')
  .description(
    'check the configuration, disk, models, and every PACS and EHR, without changing anything',
  )
  .prints(async (options) => (await import('../doctor/doctor.ts')).doctor(options));

const studies = program.command('studies').description('manage studies received by DICOM');
studies
  .command('list')
  .description('list the most recent studies, without patient identity')
  .addOption(new Option('--state <state>', 'only those in this state').choices(STUDY_STATE))
  .option('--last <number>', 'number of studies', count, 100)
  .prints(async (options) => (await import('./studies.ts')).listStudies(options));
studies
  .command('complete <study>')
  .description('stop waiting for more objects')
  .changes(async (study, options) => (await import('./studies.ts')).completeStudy(study, options));
studies
  .command('release <study>')
  .description('release a study that is held, ignored or not routed')
  .option('--rule <name>', 'use this routing rule')
  .addOption(
    new Option(
      '--under <id>',
      'if the patient ID was merged but the birth date differs: the ID for the study',
    ).choices(MERGE_DECISIONS),
  )
  .changes(async (study, options) => (await import('./studies.ts')).releaseStudy(study, options));
studies
  .command('rerun <study>')
  .description('interpret a study again')
  .changes(async (study, options) => (await import('./studies.ts')).rerunStudy(study, options));
studies
  .command('remove <study>')
  .description('remove a study with its objects and results before its retention ends')
  .option('--yes', 'remove it; otherwise only show what would be removed')
  .changes(async (study, options) => (await import('./studies.ts')).removeStudy(study, options));

const patients = program.command('patients').description('manage patients merged by HL7 messages');
patients
  .command('merges')
  .description('list the merges in effect, without patient identity')
  .prints(async (options) => (await import('./studies.ts')).listMerges(options));
patients
  .command('separate <merge>')
  .description('undo a merge, which gives its studies back their own patient ID')
  .changes(async (merge, options) => (await import('./studies.ts')).separate(merge, options));

program
  .command('rules')
  .description('check the routing rules')
  .command('test')
  .description(
    'show what the rules would do with the most recent studies, without changing anything',
  )
  .option('--config <file>', 'test the rules in this file instead of those in use')
  .option('--last <number>', 'number of studies', count, 100)
  .option('--verbose', 'show why each rule did or did not match')
  .prints(async (options) => (await import('./studies.ts')).testRules(options));

const deliveries = program
  .command('deliveries')
  .description('list deliveries to PACS, EHR and webhooks with their state and the reason')
  .option('--destination <name>', 'only those to this destination')
  .addOption(new Option('--state <state>', 'only those in this state').choices(DELIVERY_STATES))
  .option('--code <code>', 'only those that last failed with this code (docs/errors.md)')
  .option('--request <id>', 'only those of this request')
  .option('--last <number>', 'number of deliveries', count, 100)
  .prints(async (options) => (await import('./deliveries.ts')).listDeliveries(options));
deliveries
  .command('close <delivery>')
  .description('close a dead delivery that its receiver will never get; replay sends it after all')
  .requiredOption('--reason <text>', 'why, without names, identifiers and dates')
  .changes(async (id, options) => (await import('./deliveries.ts')).closeDelivery(id, options));

program
  .command('replay [delivery]')
  .description('send dead deliveries again; without an id or destination, list the deliveries')
  .option('--destination <name>', 'all dead deliveries to this destination')
  .option(
    '--to-alternate',
    'send to the alternate of the destination; with --destination, also waiting deliveries',
  )
  .option('--to <name>', 'send to this destination instead')
  .changes(async (delivery, options) =>
    (await import('./deliveries.ts')).replay(delivery, options),
  );

program
  .command('acknowledge <request>')
  .description('record who has seen the critical flags of a request')
  .changes(async (request, options) =>
    (await import('./studies.ts')).acknowledge(request, options),
  );

program
  .command('withdraw <request>')
  .description('withdraw the result of a request here and at every receiver, permanently')
  .addOption(
    new Option('--reason <reason>', 'why the result is wrong')
      .choices(WITHDRAWAL_REASON_CODES)
      .makeOptionMandatory(),
  )
  .option('--text <text>', 'explanation for the receivers, without names, identifiers and dates')
  .changes(async (request, options) => (await import('./studies.ts')).withdraw(request, options));

const hold = program
  .command('hold')
  .description('manage reports to an EHR that wait for a decision');
hold
  .command('list')
  .description('list held reports with the reason and the candidates, without patient identity')
  .prints(async (options) => (await import('./hold.ts')).listHeld(options));
hold
  .command('show <id>')
  .description('show a held report with the patient identity from its images (audited)')
  .changes(async (id, options) => (await import('./hold.ts')).showHeld(id, options));
hold
  .command('release <id>')
  .description('send a held report: for the chosen patient, with the chosen order, or unchanged')
  .option('--patient <reference>', 'Patient/<id> of the EHR')
  .option('--order <reference>', 'ServiceRequest/<id> of the EHR')
  .option('--no-order', 'send with the accession number only')
  .changes(async (id, options) => (await import('./hold.ts')).releaseHeld(id, options));
hold
  .command('reject <id>')
  .description('reject a held report permanently; it is not sent')
  .requiredOption('--reason <text>', 'why')
  .changes(async (id, options) => (await import('./hold.ts')).rejectHeld(id, options));

const quarantine = program
  .command('quarantine')
  .description('manage received objects that could not be registered');
quarantine
  .command('list')
  .description('list quarantined objects with sender and reason, without patient identity')
  .prints(async (options) => (await import('./quarantine.ts')).listQuarantine(options));
quarantine
  .command('register <id>')
  .description(
    'register a quarantined object as if it had just arrived, after its cause has been fixed',
  )
  .changes(async (id, options) => (await import('./quarantine.ts')).registerAgain(id, options));
quarantine
  .command('remove <id>')
  .description('delete a quarantined object permanently')
  .changes(async (id, options) =>
    (await import('./quarantine.ts')).removeFromQuarantine(id, options),
  );

program
  .command('clean')
  .description('delete received studies older than retention.intakeDays')
  .option('--dry-run', 'show what would be deleted, and what would be kept and why')
  .changes(async (options) => (await import('./maintenance.ts')).clean(options));

program
  .command('migrate-embedded')
  .description('copy the embedded database to the empty PostgreSQL database in DATABASE_URL')
  .prints(async (options) => (await import('./maintenance.ts')).migrateEmbedded(options));

const audit = program.command('audit').description('verify or export the audit trail');
audit
  .command('verify')
  .description('check the audit trail for altered, removed or inserted rows')
  .option('--public-key <files...>', 'public keys of other machines that sealed rows')
  .changes(async (options) => (await import('./maintenance.ts')).verifyAudit(options));
audit
  .command('export')
  .description('write the audit trail to standard output, one event per line')
  .addOption(byPerson())
  .addOption(
    new Option('--format <name>', 'format of an event')
      .choices(['dicom', 'fhir', 'jsonl'])
      .default('jsonl'),
  )
  .does(async (options) => (await import('./maintenance.ts')).exportAudit(options));

program
  .command('check-vectors <file>')
  .description('check the formulas against test vectors')
  .prints(async (file, options) =>
    (await import('./check-vectors.ts')).checkVectorsCommand(file, options),
  );

program
  .command('validate <files...>')
  .description(
    "check structured reports, segmentations and FHIR bundles against the project's own rules",
  )
  .prints(async (files, options) => (await import('./validate.ts')).validate(files, options));

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
