import { constants } from 'node:os';
import { Command, Option } from 'commander';
import { ConfigError } from '../../../config/load.ts';
import { DELIVERY_STATES } from '../../core/outbox/delivery.ts';
import { SonogateError } from '../../platform/errors/catalogue.ts';
import { addKeyCommands } from './keys.ts';
import { count, positiveNumber, wholeNumber } from './numbers.ts';
import { addSimulateCommands } from './simulate.ts';

/**
 * Ends the command silently when the reader of its output has gone (`| head`), with the status of a
 * program that was ended by SIGPIPE: Node.js ignores that signal.
 */
function endOnClosedPipe(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit(128 + constants.signals.SIGPIPE);
  });
}

const program = new Command('sonogate')
  .description(
    'Hospital integration gateway for ultrasound: DICOM in, measurements out as SR, FHIR and JSON.',
  )
  // Sub-commands of `simulate` have options of the same names as it.
  .enablePositionalOptions();

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
  .option('--stay', 'keep the gateway running afterwards')
  .option('--seed <number>', 'seed of the phantom patients', wholeNumber, 1)
  .addOption(new Option('--only <study>', 'one of the two studies').choices(['obstetric', 'echo']))
  .action(async (options) => {
    process.exitCode = await (await import('../demo/demo.ts')).demo(options);
  });

addSimulateCommands(program);
addKeyCommands(program);

program
  .command('echo <node>')
  .description('C-ECHO to a DICOM node: AE@host:port')
  .option('--from <ae>', 'our AE title')
  .action(async (node, options) => {
    process.exitCode = await (await import('./dicom.ts')).echo(node, options);
  });

program
  .command('send <node> <paths...>')
  .description('C-STORE files and folders to a DICOM node: AE@host:port')
  .option('--from <ae>', 'our AE title')
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
  .addOption(new Option('--json', 'as JSON, with the identity of the patient'))
  .action(async (options) => {
    process.exitCode = await (await import('./archives.ts')).find(options);
  });

program
  .command('fetch <study>')
  .description('make the gateway retrieve a study from an archive and route it')
  .requiredOption('--from <archive>', 'its name in the configuration')
  .option('--detach', 'print the id of the retrieval and do not wait')
  .action(async (study, options) => {
    process.exitCode = await (await import('./archives.ts')).fetchStudy(study, options);
  });

program
  .command('interpret <endpoint> <paths...>')
  .description('run a pipeline on local files, without a server: us/obstetric, us/echo')
  .option('--ga-days <number>', 'gestational age on the day of the scan', wholeNumber)
  .option('--mm-per-px <number>', 'scale of images without calibration', positiveNumber)
  .option('--report', 'add the draft report')
  .option('--priors <paths...>', 'files or folders of earlier examinations')
  .option('--age <years>', 'age of the patient', wholeNumber)
  .option('--sex <sex>', 'female or male, for reference ranges')
  .option('--height-cm <number>', 'for the body surface area', positiveNumber)
  .option('--weight-kg <number>', 'for the body surface area', positiveNumber)
  .requiredOption('--out <dir>', 'folder for result.json and the artifacts')
  .action(async (endpoint, paths, options) => {
    process.exitCode = await (await import('./interpret.ts')).interpret(endpoint, paths, options);
  });

program
  .command('submit <endpoint> <paths...>')
  .description('upload files and submit them to a gateway (SONOGATE_URL, SONOGATE_KEY)')
  .option('--ga-days <number>', 'gestational age on the day of the scan', wholeNumber)
  .option('--mm-per-px <number>', 'scale of images without calibration', positiveNumber)
  .option('--report', 'add the draft report')
  .addOption(new Option('--priority <priority>').choices(['low', 'normal', 'high']))
  .option('--metadata <name=value...>', 'attached to the request')
  .option('--detach', 'print the id and do not wait')
  .action(async (endpoint, paths, options) => {
    process.exitCode = await (await import('./remote.ts')).submit(endpoint, paths, options);
  });

program
  .command('watch <request>')
  .description('show the progress of a request until it ends')
  .action(async (request) => {
    process.exitCode = await (await import('./remote.ts')).watch(request);
  });

program
  .command('cancel <request>')
  .description('cancel a request')
  .action(async (request) => (await import('./remote.ts')).cancel(request));

program
  .command('history')
  .description('list requests, newest first')
  .option('--model <model>', 'us/obstetric')
  .option('--status <status>', 'succeeded, failed, …')
  .option('--limit <number>', 'largest number of rows', count)
  .action(async (options) => (await import('./remote.ts')).history(options));

program
  .command('download <request>')
  .description('download the result and its artifacts')
  .requiredOption('--out <dir>', 'folder for them')
  .option('--only <name...>', 'only these artifacts')
  .action(async (request, options) => (await import('./remote.ts')).download(request, options));

program
  .command('explain <study>')
  .description('what happened to a study and why: its UID or our id')
  .addOption(new Option('--json', 'as JSON'))
  .action(async (study, options) => (await import('./studies.ts')).explain(study, options));

program
  .command('doctor')
  .description('check configuration, disk, models, every PACS and EHR; changes nothing')
  .addOption(new Option('--json', 'as JSON'))
  .action(async (options) => {
    process.exitCode = await (await import('../doctor/doctor.ts')).doctor(options);
  });

const studies = program.command('studies').description('studies received by DICOM');
studies
  .command('complete <study>')
  .description('stop waiting for more objects')
  .action(async (study) => (await import('./studies.ts')).completeStudy(study));
studies
  .command('release <study>')
  .description('release a study that is held, ignored or not routed')
  .option('--rule <name>', 'under this routing rule')
  .action(async (study, options) => (await import('./studies.ts')).releaseStudy(study, options));
studies
  .command('rerun <study>')
  .description('interpret a study again')
  .action(async (study) => (await import('./studies.ts')).rerunStudy(study));

program
  .command('rules')
  .description('routing rules')
  .command('test')
  .description('what the rules would do with the studies received last; changes nothing')
  .option('--config <file>', 'rules of this file in place of those in use')
  .option('--last <number>', 'number of studies', count, 100)
  .option('--verbose', 'why each rule did or did not match')
  .action(async (options) => (await import('./studies.ts')).testRules(options));

program
  .command('deliveries')
  .description('deliveries to PACS, EHR and webhooks: their state and why')
  .option('--destination <name>', 'only to this destination')
  .addOption(new Option('--state <state>', 'only in this state').choices(DELIVERY_STATES))
  .option('--code <code>', 'only with this code of the last failure (docs/errors.md)')
  .option('--request <id>', 'only of this request')
  .option('--last <number>', 'so many', count, 100)
  .option('--json', 'as JSON, with the breakers')
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
  .action(async (delivery, options) => (await import('./deliveries.ts')).replay(delivery, options));

const hold = program.command('hold').description('reports to an EHR that wait for a person');
hold
  .command('list')
  .description('list them with the reason and the candidates; without identity')
  .action(async () => (await import('./hold.ts')).listHeld());
hold
  .command('show <id>')
  .description('show one with the identity of its images; who looked is audited')
  .option('--by <name>', 'who looks')
  .action(async (id, options) => (await import('./hold.ts')).showHeld(id, options));
hold
  .command('release <id>')
  .description('send it, to a chosen patient, with a chosen order, or as it is')
  .option('--patient <reference>', 'Patient/<id> of the EHR')
  .option('--order <reference>', 'ServiceRequest/<id> of the EHR')
  .option('--no-order', 'with the accession number alone')
  .option('--by <name>', 'who decides')
  .action(async (id, options) => (await import('./hold.ts')).releaseHeld(id, options));
hold
  .command('reject <id>')
  .description('reject it for good: it is not sent')
  .requiredOption('--reason <text>', 'why')
  .option('--by <name>', 'who decides')
  .action(async (id, options) => (await import('./hold.ts')).rejectHeld(id, options));

program
  .command('clean')
  .description('remove received studies older than retention.intakeDays')
  .option('--dry-run', 'say what would be removed, and what stays and why')
  .action(async (options) => (await import('./maintenance.ts')).clean(options));

const audit = program.command('audit').description('the audit, sealed row by row');
audit
  .command('verify')
  .description('find rows that were altered, removed or inserted')
  .option('--public-key <files...>', 'public keys of other machines that sealed it')
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
  .action(async (file) => {
    process.exitCode = await (await import('./check-vectors.ts')).checkVectorsCommand(file);
  });

program
  .command('validate <files...>')
  .description('check structured reports, segmentations and FHIR bundles against our own rules')
  .action(async (files) => {
    process.exitCode = await (await import('./validate.ts')).validate(files);
  });

program
  .command('docs')
  .description('write the generated pages of docs/')
  .action(async () => (await import('./docs.ts')).writeDocs());

endOnClosedPipe();
try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof ConfigError || error instanceof SonogateError) {
    process.stderr.write(`${error.message}\n`);
  } else if (process.env.SONOGATE_LOG_LEVEL === 'debug') {
    throw error;
  } else {
    process.stderr.write(`${(error as Error).message}\n`);
  }
  process.exitCode = 1;
}
