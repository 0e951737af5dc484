// CS-LVM on SNLI's development set, 1k labeled.
local cs_lvm = import '../lib/cs_lvm.libsonnet';

cs_lvm.snli_1k
