# rise_add_kernels(TARGET FILES FILE.rise... [ARCH sm_80...] [CU] [OPTIONS OPTION...])
#
# Compiles programs in RISE when TARGET is built, and again when they, what they import, or risec change. Each FILE.rise
# gives FILE.h in a folder of TARGET's own, from which its sources include it; or, with CU, FILE.cu, which becomes one of
# its sources and wants CUDA among the languages of the project. ARCH lists the GPUs that a header has cubins for.
# OPTIONS are further ones of `risec`, as in OPTIONS --set block=512.
#
# A header needs NVRTC when it is written (docs/header.md), and nothing of CUDA when it is compiled.

function(rise_add_kernels target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "CU" "" "FILES;ARCH;OPTIONS")
  if(NOT TARGET "${target}")
    message(FATAL_ERROR "rise_add_kernels: there is no target ${target}")
  endif()
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_FILES)
    message(FATAL_ERROR "rise_add_kernels(TARGET FILES FILE.rise... [ARCH sm_80...] [CU] [OPTIONS OPTION...]): "
      "wrong are ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT TARGET rise::risec)
    message(FATAL_ERROR "rise_add_kernels needs risec: build with RISE_BUILD_TOOLS, or install the component tools")
  endif()
  set(suffix h)
  set(options ${arg_OPTIONS})
  if(arg_CU)
    set(suffix cu)
  elseif(arg_ARCH)
    string(REPLACE ";" "," archs "${arg_ARCH}")
    list(APPEND options "--arch=${archs}")
  endif()
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/rise_kernels/${target}")
  file(MAKE_DIRECTORY "${folder}")
  foreach(file IN LISTS arg_FILES)
    get_filename_component(path "${file}" ABSOLUTE)
    get_filename_component(name "${file}" NAME_WLE)
    set(out "${folder}/${name}.${suffix}")
    if(out IN_LIST made)
      message(FATAL_ERROR "rise_add_kernels(${target}): two files are named ${name}.rise")
    endif()
    list(APPEND made "${out}")
    add_custom_command(
      OUTPUT "${out}"
      COMMAND rise::risec "${path}" -o "${out}" --depfile "${out}.d" ${options}
      DEPENDS "${path}" rise::risec
      DEPFILE "${out}.d"
      COMMENT "Compiling ${file}"
      VERBATIM)
  endforeach()
  target_sources("${target}" PRIVATE ${made})
  target_include_directories("${target}" PRIVATE "${folder}")
endfunction()
