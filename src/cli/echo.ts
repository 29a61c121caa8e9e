import { echo as verify } from '../../dimse/echo.ts';
import { SonogateError } from '../errors/catalogue.ts';
import { COMMAND_AE_TITLE, COMMAND_TIMEOUT_SECONDS, parseDicomNode } from './dicom-node.ts';

/** C-ECHO to a node. @returns the exit status: 0 when the peer answered with success. */
export async function echo(text: string, options: { from?: string }): Promise<number> {
  const node = {
    ...parseDicomNode(text),
    callingAeTitle: options.from ?? COMMAND_AE_TITLE,
    timeoutSeconds: COMMAND_TIMEOUT_SECONDS,
  };
  try {
    const { status, milliseconds } = await verify(node);
    const answer = status === 0 ? 'success' : `status ${status.toString(16).padStart(4, '0')}H`;
    process.stdout.write(`${text}: ${answer} in ${milliseconds.toFixed(0)} ms\n`);
    return status === 0 ? 0 : 1;
  } catch (error) {
    if (!(error instanceof SonogateError)) throw error;
    process.stderr.write(`${text}: ${error.detail}\n`);
    return 1;
  }
}
