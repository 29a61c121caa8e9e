import dcmjs from 'dcmjs';
import { statusHex } from '../../../dimse/network/status.ts';
import { outgoingBuffer } from '../../../dimse/send/store-scu.ts';
import type { SopReference } from '../../../dimse/services/referenced-objects.ts';
import { simulateObstetricStudy } from '../../../models/phantom/study.ts';
import type { StudyContents } from '../../../models/phantom/study-shots.ts';
import { parseDicomNode } from '../cli/dicom.ts';
import { EXIT, type ExitStatus } from '../cli/exit-status.ts';
import { sendStudy } from './cart-study.ts';
import { CARTS, type Cart, type CartKind, type CartStyle, PLAIN_CART } from './carts.ts';
import { sendPlainStudy } from './dcmjs-client.ts';

/**
 * Block that the cart reserves for its elements in its private group. It is the first possible
 * block, (gggg,10xx) (PS3.5 7.8.1).
 */
const BLOCK = '10';

/**
 * Converts a phantom image to the cart's style: its SOP class, transfer syntax, manufacturer's name
 * and private elements. The pixels stay unchanged.
 * @param file a still or cine loop of the phantom, already compressed in the cart's encoding
 * (`cart.compression`).
 */
export function asCartFile(file: Buffer, cart: CartKind): Buffer {
  const bytes = file.buffer.slice(file.byteOffset, file.byteOffset + file.length) as ArrayBuffer;
  const image = dcmjs.data.DicomMessage.readFile(bytes);
  const cine = Number(image.dict['00280008']?.Value?.[0] ?? 1) > 1;
  const sopClass = { vr: 'UI', Value: [cine ? cart.classes.cine : cart.classes.still] };
  const { creator, group } = cart.privateData;
  Object.assign(image.dict, {
    '00080016': sopClass,
    '00080070': { vr: 'LO', Value: [`Simulated: ${creator}`] },
    [`${group}00${BLOCK}`]: { vr: 'LO', Value: [creator] },
    [`${group}${BLOCK}01`]: { vr: 'LO', Value: ['private text'] },
    [`${group}${BLOCK}02`]: { vr: 'OB', Value: [new Uint8Array([0, 255, 1, 254]).buffer] },
  });
  const written = new dcmjs.data.DicomDict({
    ...image.meta,
    '00020002': sopClass,
    '00020010': { vr: 'UI', Value: [cart.transferSyntaxes[0]] },
  });
  written.dict = image.dict;
  return Buffer.from(written.write({ fragmentMultiframe: false }));
}

/**
 * Sends a phantom obstetric study over the network as a cart of the given style would. Succeeds if
 * the peer accepted all objects.
 */
export async function simulateCart(
  node: string,
  options: {
    style: CartStyle | 'plain';
    gaDays: number;
    seed: number;
    contents: StudyContents;
    pauseSeconds: number;
    from?: string;
  },
): Promise<ExitStatus> {
  const called = parseDicomNode(node);
  const habits: Cart | null = options.style === 'plain' ? null : CARTS[options.style];
  const style = habits ?? PLAIN_CART;
  const callingAeTitle = options.from ?? style.callingAeTitle;
  const { files, truth } = await simulateObstetricStudy({
    ...options,
    // Each study is a new acquisition of the same fetus, with new UIDs.
    acquisition: new Date().toISOString(),
    encoding: { compression: style.compression, colour: 'rgb' },
  });
  tell(`${callingAeTitle}: ${style.habit}`);
  tell(`Sent by ${habits ? 'our own sender, which imitates this style' : 'dcmjs-dimse'}`);
  tell(`Study ${truth.studyInstanceUid}, ${files.length} objects of a phantom`);
  const study = {
    studyInstanceUid: truth.studyInstanceUid,
    pauseMilliseconds: options.pauseSeconds * 1000,
    onStored: ({ sopInstanceUid }: SopReference, status: number | null) =>
      tell(`${inWords(status)} ${sopInstanceUid}`),
  };
  const images = files.map(({ bytes }) => asCartFile(bytes, style));
  const outcome = habits
    ? await sendStudy(
        called,
        { ...habits, callingAeTitle },
        { ...study, objects: images.map(outgoingBuffer) },
      )
    : await sendPlainStudy({ ...called, callingAeTitle }, { ...study, files: images });
  const taken = outcome.stored.filter((status) => status === 0).length;
  const end = habits?.end ?? 'release';
  tell(`${taken} stored, ${files.length - taken} refused, ended by ${end}`);
  if (outcome.performedProcedure) {
    tell(`MPPS N-CREATE and N-SET: ${outcome.performedProcedure.map(statusHex).join(', ')}`);
  }
  if (outcome.committed !== null) tell(`storage commitment: ${outcome.committed} objects`);
  return taken === files.length ? EXIT.success : EXIT.refused;
}

const tell = (line: string) => process.stdout.write(`${line}\n`);
const inWords = (status: number | null) => (status === null ? 'no answer' : statusHex(status));
