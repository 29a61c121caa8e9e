/**
 * Disables the telemetry of ONNX Runtime, because nothing may leave a hospital unasked. From
 * version 1.29 on, the library reports over the network to its maker on which system it runs and
 * which models it opens, and stores an identifier of the machine in the home folder
 * (microsoft/onnxruntime#27379). It reads this variable once, when it is loaded, and a thread gets
 * a copy of the variables. Therefore this file must be loaded before the library, and before such a
 * thread starts.
 */
process.env.ORT_DISABLE_TELEMETRY = '1';
