import { sendFiles } from '../../dimse/store-scu.ts';
import { SonogateError } from '../errors/catalogue.ts';
import { findDicomFiles } from './dicom-files.ts';
import { COMMAND_AE_TITLE, COMMAND_TIMEOUT_SECONDS, parseDicomNode } from './dicom-node.ts';

/** C-STORE of files and folders. @returns the exit status: 0 when the peer took every object. */
export async function send(
  text: string,
  paths: string[],
  options: { from?: string },
): Promise<number> {
  const node = {
    ...parseDicomNode(text),
    callingAeTitle: options.from ?? COMMAND_AE_TITLE,
    timeoutSeconds: COMMAND_TIMEOUT_SECONDS,
  };
  const files = await findDicomFiles(paths);
  if (files.length === 0) throw new Error(`no DICOM file in ${paths.join(', ')}`);
  try {
    const results = await sendFiles(node, files, {
      onResult: (path, { outcome, detail }) =>
        process.stdout.write(`${outcome.padEnd(8)} ${path} (${detail})\n`),
    });
    const failed = results.filter(({ outcome }) => outcome === 'failed').length;
    process.stdout.write(`${results.length - failed} sent, ${failed} failed\n`);
    return failed === 0 ? 0 : 1;
  } catch (error) {
    if (!(error instanceof SonogateError)) throw error;
    process.stderr.write(`${text}: ${error.detail}\n`);
    return 1;
  }
}
